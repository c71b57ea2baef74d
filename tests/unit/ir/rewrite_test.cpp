// Substitution, copying, walking, inlining.
#include <catch2/catch.hpp>

#include "graph_samples.h"
#include "ir/equality/equal.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"

using namespace relish;
using namespace relish::samples;

namespace {

bool verifies(const Module& module) {
  Diagnostics diagnostics;
  verify(module, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) UNSCOPED_INFO(diagnostic.message);
  return !diagnostics.has_errors();
}

// Splices a call into a new function `caller(x)`.
Module inlined_into_caller(const Module& callee_module, const Function& callee, const Type& argument,
                           Module target) {
  FunctionBuilder builder;
  Function caller;
  caller.name = "caller";
  caller.params = {Var("x", argument)};
  builder.reserve_name("x");
  builder.begin_block(false);
  caller.result = inline_call(builder, target, callee_module, callee, {caller.params[0]});
  caller.blocks = builder.take_blocks();
  caller.result_type = caller.result.type();
  target.set(shared(std::move(caller)));
  return target;
}

}  // namespace

TEST_CASE("substitution returns the same handle when nothing changed") {
  install();
  Var x("x", floats({2})), y("y", floats({2})), other("z", floats({2}));
  ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  Expr call = op_call("add", {x, x});
  CHECK(substitute(call, {{other.id(), Expr(y)}}).same_as(call));
  CHECK(substitute(call, {}, {{n.id(), Scalar(3)}}).same_as(call));
  CHECK(print(substitute(call, {{x.id(), Expr(y)}})) == "R.add(y, y)");
  Expr shape = shape_literal({n, 4});
  CHECK(substitute(shape, {}, {{m.id(), Scalar(3)}}).same_as(shape));
  CHECK(print(substitute(shape, {}, {{n.id(), Scalar(3)}})) == "R.shape([3, 4])");

  PrimFunc function = add_one({Scalar(n)});
  CHECK(substitute(function.body, {{m.id(), Scalar(3)}}).same_as(function.body));
  CHECK(rewrite(
            function.body, [](const Scalar&) { return std::optional<Scalar>(); }, nullptr)
            .same_as(function.body));
  Stmt fixed = substitute(function.body, {{n.id(), Scalar(3)}});
  CHECK_FALSE(fixed.same_as(function.body));
  CHECK(print(fixed).find("range(T.int64(3))") != std::string::npos);
}

TEST_CASE("buffers whose shapes change are renewed with their accesses") {
  ScalarVar n("n", DType::Int64);
  Buffer t("t", DType::Float32, {Scalar(n)});
  Stmt body = seq({make_stmt(AllocateStmt{t}), make_stmt(Store{t, {Scalar(0)}, load(t, {Scalar(1)})})});
  Stmt fixed = substitute(body, {{n.id(), Scalar(8)}});
  CHECK(print(fixed) == "t = T.alloc_buffer((T.int64(8),))\nt[T.int64(0)] = t[T.int64(1)]\n");
}

TEST_CASE("bound variables can be renamed by substitution") {
  PrimFunc function = add_one({4});
  ScalarMap renaming;
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const For* loop = stmt.as<For>()) renaming.emplace(loop->var.id(), ScalarVar("row", DType::Int64));
  });
  CHECK(print(substitute(function.body, renaming)).starts_with("for row in range(T.int64(4)):"));
}

TEST_CASE("a copy with fresh variables is equal and shares none") {
  ScalarVar n("n", DType::Int64);
  Function function = doubled(floats({Scalar(n), 2}));
  VarMap renamed;
  Function copy = copy_with_fresh_vars(function, &renamed);
  CHECK(equal_modulo_names(function, copy));
  CHECK(print(function) == print(copy));
  CHECK_FALSE(copy.params[0] == function.params[0]);
  CHECK(renamed.size() == 3);
  std::vector<ScalarVar> symbols;
  collect_vars(copy.result_type, symbols);
  REQUIRE(symbols.size() == 1);
  CHECK_FALSE(symbols[0] == n);
  const auto module = module_of({shared(std::move(copy))});
  CHECK(verifies(module));
}

TEST_CASE("expressions are visited with operands first") {
  Function function = doubled(floats({2}));
  std::string order;
  for_each_expr(function, [&](const Expr& expr) { order += print(expr) + ";"; });
  CHECK(order == "x;x;R.add(x, x);lv;R.nn.softmax(lv, axis=-1, mode=None);gv;");
}

TEST_CASE("inlining infers the callee's types from the arguments") {
  ScalarVar n("n", DType::Int64);
  Function callee = doubled(floats({Scalar(n), 2}), "callee");
  Module result = inlined_into_caller(module_of({shared(callee)}), callee, floats({7, 2}), {});
  CHECK(print(*result.function("caller")) == R"(@R.function
def caller(x: R.Tensor((7, 2), dtype="float32")) -> R.Tensor((7, 2), dtype="float32"):
    lv: R.Tensor((7, 2), dtype="float32") = R.add(x, x)
    gv: R.Tensor((7, 2), dtype="float32") = R.nn.softmax(lv, axis=-1, mode=None)
    return gv
)");
  CHECK(verifies(result));
}

TEST_CASE("an argument that is not known to fit is cast") {
  ScalarVar n("n", DType::Int64);
  Function callee = doubled(floats({Scalar(n), 2}), "callee");
  Type vague = TensorType{.dtype = DType::Float32, .shape = std::nullopt, .rank = 2};
  Module result = inlined_into_caller(module_of({shared(callee)}), callee, vague, {});
  std::string text = print(*result.function("caller"));
  CHECK(
      text.find(
          "x1: R.Tensor((n, 2), dtype=\"float32\") = R.match_cast(x, R.Tensor((n, 2), dtype=\"float32\"))") !=
      std::string::npos);
  CHECK_THROWS_AS(inlined_into_caller(module_of({shared(callee)}), callee, floats({7, 3}), {}), Failure);
}

TEST_CASE("prim_funcs come along once, functions called inside are inlined") {
  install();
  ScalarVar n("n", DType::Int64);
  GlobalFunction kernel = shared(add_one({Scalar(n)}));
  FunctionBuilder inner_builder;
  Function inner;
  inner.name = "inner";
  inner.params = {Var("a", floats({Scalar(n)}))};
  inner_builder.begin_block(false);
  inner.result =
      inner_builder.emit(call_tir(global_ref(kernel), {inner.params[0]}, {floats({Scalar(n)})}, false));
  inner.blocks = inner_builder.take_blocks();
  inner.result_type = inner.result.type();
  GlobalFunction inner_shared = shared(inner);

  ScalarVar m("m", DType::Int64);
  FunctionBuilder outer_builder;
  Function outer;
  outer.name = "outer";
  outer.params = {Var("b", floats({Scalar(m)}))};
  outer_builder.begin_block(false);
  Expr first = outer_builder.emit(function_call(global_ref(inner_shared), {outer.params[0]}));
  outer.result = outer_builder.emit(function_call(global_ref(inner_shared), {first}));
  outer.blocks = outer_builder.take_blocks();
  outer.result_type = outer.result.type();
  Module callee_module = module_of({kernel, inner_shared, shared(outer)});
  REQUIRE(verifies(callee_module));

  // A different function has the kernel's name in the target.
  Module target = module_of({shared(add_one({3}))});
  Module result = inlined_into_caller(callee_module, outer, floats({5}), target);
  CHECK(result.names() == std::vector<std::string>{"add_one", "add_one1", "caller"});
  std::string text = print(*result.function("caller"));
  CHECK(text.find("R.call_tir(add_one1, (x,), out_ty=R.Tensor((5,), dtype=\"float32\"))") !=
        std::string::npos);
  CHECK(verifies(result));

  // A second inlining finds what the first one brought.
  result.remove("caller");
  CHECK(inlined_into_caller(callee_module, outer, floats({5}), result).names() ==
        std::vector<std::string>{"add_one", "add_one1", "caller"});
}
