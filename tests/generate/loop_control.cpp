// Free statements of prim_funcs: loops, branches, while, local scalars, allocations in the middle,
// assertions.
#include "tests/generate/loop_generator.h"
#include "tests/generate/names.h"

namespace relish::generate {

Stmt LoopGenerator::statement(const Buffer& target, int depth) {
  const auto integer_literal = [](std::int64_t value) { return int_literal(DType::Int32, value); };
  const auto store = [&] {
    loosen(5);  // it may be an update of one element over a loop
    std::vector<Scalar> place = indices_of(target);
    const Scalar value = scalar(target.dtype(), 2);
    return make_stmt(Store{target, std::move(place), value}, {}, comments());
  };
  if (depth <= 0) return store();
  switch (random_.below(8)) {
    case 0: {
      cover("if");
      IfStmt branch;
      branch.condition = condition(2);
      branch.then_body = seq(statements(target, depth - 1));
      if (random_.chance(0.6)) {
        cover("else");
        branch.else_body = seq(statements(target, depth - 1));
      }
      return make_stmt(std::move(branch), {}, comments());
    }
    case 1: {
      cover("loop in a loop");
      const Scope scope(*this);
      const Scalar extent = random_.pick(extents_);
      const ScalarVar var(variable_name(random_), extent.dtype());
      indices.push_back({Scalar(var), extent});
      Stmt body = seq(statements(target, depth - 1));
      return make_stmt(
          For{var, int_literal(extent.dtype(), 0), extent, LoopKind::Serial, std::move(body), {}}, {},
          comments());
    }
    case 2: {
      // k counts to a bound that nothing in the body changes.
      cover("while");
      const ScalarVar k(variable_name(random_), DType::Int32);
      const Stmt define = make_stmt(DefineScalar{k, integer_literal(0)}, {}, comments());
      std::vector<Stmt> body;
      {
        const Scope scope(*this);
        scalars.push_back(k);
        body = statements(target, depth - 1);
      }
      body.push_back(make_stmt(AssignScalar{k, Scalar(k) + integer_literal(1)}));
      const Stmt loop = make_stmt(
          While{Scalar(k) < integer_literal(random_.between(1, 4)), seq(std::move(body))}, {}, comments());
      return seq({define, loop});
    }
    case 3: {
      cover("local scalar");
      const DType kind = dtype();
      const ScalarVar local(variable_name(random_), kind);
      const Stmt define = make_stmt(DefineScalar{local, scalar(kind, 2)}, {}, comments());
      scalars.push_back(local);
      locals.push_back(local);
      return define;
    }
    case 4: {
      if (locals.empty()) return store();
      cover("assignment of a local");
      const ScalarVar& local = random_.pick(locals);
      return make_stmt(AssignScalar{local, scalar(local.dtype(), 2)}, {}, comments());
    }
    case 5: {
      cover("allocation in the middle");
      const Buffer temporary(variable_name(random_), dtype(), {integer_literal(2)});
      const Stmt allocate = make_stmt(AllocateStmt{temporary}, {}, comments());
      std::vector<Stmt> stmts{allocate};
      for (int i = 0; i < 2; ++i)
        stmts.push_back(make_stmt(Store{temporary, {integer_literal(i)}, scalar(temporary.dtype(), 1)}));
      readable.push_back(temporary);
      return seq(std::move(stmts));
    }
    case 6: {
      if (!random_.chance(0.3)) return store();
      cover("assertion");
      const Scalar always =
          compare(CompareOp::Ge, binary(BinaryOp::FloorMod, integer(DType::Int32, 1), integer_literal(7)),
                  integer_literal(0));
      return make_stmt(AssertStmt{always, "a \"message\"\n of two lines"}, {}, comments());
    }
    default:
      return store();
  }
}

std::vector<Stmt> LoopGenerator::statements(const Buffer& target, int depth) {
  const Scope scope(*this);
  std::vector<Stmt> result;
  for (std::int64_t count = random_.between(1, 3); count > 0; --count)
    result.push_back(statement(target, depth));
  return result;
}

Stmt LoopGenerator::scribble(const Buffer& target) {
  const Scope scope(*this);
  const Scalar extent = random_.pick(extents_);
  const ScalarVar var(variable_name(random_), extent.dtype());
  indices.push_back({Scalar(var), extent});
  Stmt body = seq(statements(target, 2));
  return make_stmt(For{var, int_literal(extent.dtype(), 0), extent, LoopKind::Serial, std::move(body), {}},
                   {}, comments());
}

}  // namespace relish::generate
