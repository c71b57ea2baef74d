// Each rule of the verifier, by its id.
#include <catch2/catch.hpp>

#include "graph_samples.h"
#include "ir/verify/verify.h"

using namespace relish;
using namespace relish::samples;

namespace {

std::vector<std::string> broken_rules(const Module& module) {
  Diagnostics diagnostics;
  verify(module, diagnostics);
  std::vector<std::string> ids;
  for (const Diagnostic& diagnostic : diagnostics.all()) ids.push_back(diagnostic.id);
  return ids;
}
using Rules = std::vector<std::string>;

template <class Change>
Rules broken_graph(Change&& change) {
  Function function = doubled(floats({2, 3}));
  change(function);
  return broken_rules(module_of({shared(add_one({2, 3})), shared(std::move(function))}));
}

Scalar number32(std::int64_t value) { return int_literal(DType::Int32, value); }

// A prim_func with one int32 buffer of 4 elements and the given body.
Rules broken_loop(const Buffer& a, Stmt body) {
  PrimFunc function;
  function.name = "f";
  function.params = {{a}};
  function.body = std::move(body);
  return broken_rules(module_of({shared(std::move(function))}));
}

}  // namespace

TEST_CASE("sound modules verify") {
  CHECK(broken_graph([](Function&) {}).empty());
  ScalarVar n("n", DType::Int64);
  CHECK(broken_rules(module_of({shared(doubled(floats({Scalar(n), 4})))})).empty());
}

TEST_CASE("broken graph functions are named by rule") {
  install();
  CHECK(broken_graph([](Function& f) { f.blocks[0].bindings.push_back(f.blocks[0].bindings[0]); }) ==
        Rules{"verify.rebound"});
  CHECK(broken_graph([](Function& f) { f.blocks[0].bindings.erase(f.blocks[0].bindings.begin()); }) ==
        Rules{"verify.unbound"});
  CHECK(broken_graph([](Function& f) { f.result = f.blocks[0].bindings[0].var(); }) ==
        Rules{"verify.dataflow"});
  CHECK(broken_graph([](Function& f) { f.blocks[0].dataflow = false; }) == Rules{"verify.dataflow"});
  CHECK(broken_graph([](Function& f) {
          Expr x = f.params[0];
          Binding& last = f.blocks[0].bindings[1];
          last.kind = VarBinding{last.var(), op_call("add", {x, op_call("add", {x, x})})};
        }) == Rules{"verify.operand"});
  CHECK(broken_graph([](Function& f) {
          Binding& last = f.blocks[0].bindings[1];
          last.kind = VarBinding{Var("gv", floats({5})), last.value()};
          f.result = last.var();
        }) == Rules{"verify.type", "verify.result"});
  CHECK(broken_graph([](Function& f) { f.result_type = floats({7}); }) == Rules{"verify.result"});
  CHECK(broken_graph([](Function& f) {
          f.blocks[0].bindings[0].kind =
              VarBinding{f.blocks[0].bindings[0].var(),
                         call_tir(global_ref("nowhere", Type()), {}, {floats({2, 3})}, false)};
        }) == Rules{"verify.global"});
  CHECK(broken_graph([](Function& f) {
          f.blocks[0].bindings[0].kind =
              VarBinding{f.blocks[0].bindings[0].var(),
                         call_tir(global_ref("add_one", Type()), {}, {floats({2, 3})}, false)};
        }) == Rules{"verify.call_tir"});
  CHECK(broken_graph([](Function& f) {
          f.blocks[0].bindings[0].kind = VarBinding{f.blocks[0].bindings[0].var(),
                                                    call_tir(global_ref("main", Type(function_type_of(f))),
                                                             {f.params[0]}, {floats({2, 3})}, false)};
        }) == Rules{"verify.callee"});
  CHECK(broken_graph([](Function& f) {
          f.result = shape_literal({ScalarVar("m", DType::Int64)});
          f.result_type = Type();
        }) == Rules{"verify.symbol"});
  CHECK(broken_graph([](Function& f) {
          CallTir call{global_ref("add_one", Type()), {f.params[0]}, {floats({2, 3})}, false, {1}};
          f.blocks[0].bindings[0].kind = VarBinding{f.blocks[0].bindings[0].var(), call_tir(std::move(call))};
        }) == Rules{"verify.inplace", "verify.call_tir"});
  CHECK(broken_graph([](Function& f) {
          PackedCall call{PackedForm::Impure, extern_func("native"), {f.params[0]}, {floats({2, 3})}};
          f.blocks[0].bindings[0].kind =
              VarBinding{f.blocks[0].bindings[0].var(), packed_call(std::move(call))};
        }) == Rules{"verify.dataflow", "verify.purity"});
  CHECK(broken_graph([](Function& f) {
          FunctionType other;
          other.result = floats({2, 3});
          f.result = global_ref("main", Type(other));
          f.result_type = Type();
        }) == Rules{"verify.global_type"});
  CHECK(broken_rules(module_of({shared(add_one({2})), shared(add_one({2}))})) == Rules{"verify.duplicate"});
}

TEST_CASE("broken prim_funcs are named by rule") {
  Buffer a("A", DType::Int32, {number32(4)});
  ScalarVar i("i", DType::Int32), x("x", DType::Int32);
  auto store = [&](const Scalar& index, const Scalar& value) { return make_stmt(Store{a, {index}, value}); };
  auto loop = [&](Stmt body) {
    return make_stmt(For{i, number32(0), number32(4), LoopKind::Serial, std::move(body), {}});
  };
  CHECK(broken_loop(a, loop(store(i, number32(1)))).empty());
  CHECK(broken_loop(a, loop(loop(store(i, number32(1))))) == Rules{"verify.loop_variable"});
  CHECK(broken_loop(a, store(i, number32(1))) == Rules{"verify.scalar"});
  CHECK(broken_loop(a, loop(make_stmt(AssignScalar{i, number32(1)}))) == Rules{"verify.assign"});
  CHECK(broken_loop(a, store(number32(0), float_literal(DType::Float32, 1))) == Rules{"verify.store"});
  CHECK(broken_loop(a, make_stmt(Store{a, {}, number32(1)})) == Rules{"verify.rank"});
  CHECK(broken_loop(a, store(float_literal(DType::Float32, 1), number32(1))) == Rules{"verify.index"});
  Buffer b("B", DType::Int32, {number32(4)});
  CHECK(broken_loop(a, make_stmt(Store{b, {number32(0)}, number32(1)})) == Rules{"verify.buffer"});
  CHECK(broken_loop(a, make_stmt(While{number32(1), store(number32(0), number32(1))})) ==
        Rules{"verify.condition"});
  CHECK(broken_loop(a, make_stmt(DefineScalar{x, Scalar(1)})) == Rules{"verify.scalar_type"});
  CHECK(broken_loop(a,
                    make_stmt(For{i, number32(0), Scalar(4), LoopKind::Serial, store(i, number32(1)), {}})) ==
        Rules{"verify.loop_type"});
  CHECK(broken_loop(a, make_stmt(Break{})) == Rules{"verify.control"});
  CHECK(broken_loop(a, make_stmt(Return{number32(1)})) == Rules{"verify.return"});
  CHECK(broken_loop(a, loop(Stmt())) == Rules{"verify.body"});
  PrimFunc twice;
  twice.name = "f";
  twice.params = {{a}, {Buffer("A", DType::Int32, {number32(4)})}};
  twice.body = store(number32(0), number32(1));
  const auto module = module_of({shared(std::move(twice))});
  CHECK(broken_rules(module) == Rules{"verify.parameter"});
}

TEST_CASE("verify_after names the pass") {
  Module module = module_of({shared(add_one({2})), shared(add_one({2}))});
  try {
    verify_after(module, "fuse");
    FAIL("no failure");
  } catch (const Failure& failure) {
    CHECK(failure.error_class() == ErrorClass::Internal);
    CHECK(failure.diagnostics().front().message ==
          "pass 'fuse' made a module that does not verify: add_one: the module has this name twice");
  }
}
