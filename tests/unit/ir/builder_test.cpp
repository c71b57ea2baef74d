// Builders, inferring constructors, module lookup, and how prim_funcs access their parameters.
#include <catch2/catch.hpp>

#include "ir/nodes/builder.h"
#include "ir/printer/printer.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/ir/float_type.h"

namespace relish {
namespace {

using testing::failure_of;

TEST_CASE("names are fresh and blocks flat") {
  FunctionBuilder builder;
  builder.reserve_name("lv1");
  const Var t("t", TupleType{{f32({2}), f32({3})}});
  builder.begin_block(true);
  const Var a = builder.bind(tuple_get(t, 0)), b = builder.bind(tuple_get(t, 1));
  const Var out = builder.bind(tuple_get(t, 1), "", true);
  CHECK(a.name() == "lv");
  CHECK(b.name() == "lv2");
  CHECK(out.name() == "gv");
  CHECK(b.dataflow());
  CHECK(!out.dataflow());
  builder.end_block();
  builder.begin_block(true);
  builder.end_block();
  const Expr pair = builder.emit(tuple({tuple_get(t, 0), a}));
  CHECK(is_leaf(pair));
  const std::vector<BindingBlock> blocks = builder.take_blocks();
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].bindings.size() == 3);
  CHECK(!blocks[1].dataflow);
  CHECK(builder.take_blocks().empty());
}

TEST_CASE("tuple items have the field's type") {
  const Var t("t", TupleType{{f32({2})}}), x("x", f32({2}));
  CHECK(same_type(tuple_get(t, 0).type(), f32({2})));
  CHECK(failure_of([&] { tuple_get(t, 1); }) == "TypeError: index 1 is out of range for a tuple of 1");
  CHECK(failure_of([&] { tuple_get(x, 0); }) ==
        "TypeError: item 0 is taken of R.Tensor((2,), dtype=\"float32\"); expected a tuple");
}

TEST_CASE("a call solves the callee's symbolic dims") {
  const Scalar n = use(ScalarVar("n", DType::Int64)), m = use(ScalarVar("m", DType::Int64)),
               k = use(ScalarVar("k", DType::Int64));
  Function callee;
  callee.name = "f";
  callee.params = {Var("x", f32({n, m})), Var("y", f32({m}))};
  callee.result_type = TupleType{{f32({n * 2}), f32({m, k})}};
  const Expr f = global_ref(GlobalFunction(std::make_shared<const Function>(callee)));
  const Expr x = Var("a", f32({k, 4})), y = Var("b", f32({4}));
  CHECK(print(function_call(f, {x, y}).type()) ==
        "R.Tuple(R.Tensor((k * 2,), dtype=\"float32\"), R.Tensor(dtype=\"float32\", ndim=2))");
  const Expr ranked = Var("r", TensorType{.dtype = DType::Float32, .shape = std::nullopt, .rank = 2});
  CHECK(print(function_call(f, {ranked, y}).type()) ==
        "R.Tuple(R.Tensor(dtype=\"float32\", ndim=1), R.Tensor(dtype=\"float32\", ndim=2))");
  CHECK(
      failure_of([&] { function_call(f, {x, Var("c", f32({5}))}); }) ==
      "TypeError: argument of type R.Tensor((5,), dtype=\"float32\") is given for parameter y of f; expected "
      "R.Tensor((4,), dtype=\"float32\")");
  CHECK(failure_of([&] { function_call(f, {x}); }) == "TypeError: f is given 1 argument; it takes 2");
  CHECK(failure_of([&] { function_call(x, {x}); }) ==
        "TypeError: a is called; it has type R.Tensor((k, 4), dtype=\"float32\")");
}

TEST_CASE("a scalar parameter gives the dimension of its name") {
  const Scalar n = use(ScalarVar("n", DType::Int64));
  Function callee;
  callee.name = "f";
  callee.params = {Var("n", ScalarType{DType::Int64})};
  callee.result_type = f32({n});
  const Expr f = global_ref(GlobalFunction(std::make_shared<const Function>(callee)));
  CHECK(print(function_call(f, {scalar_value(5)}).type()) == "R.Tensor((5,), dtype=\"float32\")");
}

TEST_CASE("call_tir has exactly the written type") {
  const Expr f = global_ref("f", Type());
  CHECK(same_type(call_tir(f, {}, {f32({2})}, false).type(), f32({2})));
  CHECK(same_type(call_tir(f, {}, {f32({2})}, true).type(), TupleType{{f32({2})}}));
}

TEST_CASE("a loop nest takes the symbols that no buffer binds as parameters") {
  const ScalarVar n("n", DType::Int64), m("m", DType::Int64), k("k", DType::Int64);
  LoopBuilder loops;
  const Buffer a = loops.input("A", f32({use(n), use(m) * 2}));
  const Buffer c = loops.output("C", f32({use(n)}));
  loops.spatial_reduce(
      "C", {use(n)}, {use(m) * 2},
      [&](const std::vector<Scalar>& s, const std::vector<Scalar>& r) {
        return loops.store(c, s,
                           loops.load(c, s) + loops.load(a, {s[0], r[0]}) * cast(DType::Float32, use(k)));
      },
      [&](const std::vector<Scalar>& s) { return loops.store(c, s, 0); });
  const PrimFunc function = loops.finish("row_sum");
  REQUIRE(function.params.size() == 4);
  CHECK(*function.params[2].scalar() == m);
  CHECK(*function.params[3].scalar() == k);
  CHECK(find_attribute(function.attributes, "noalias"));
  const auto accesses = param_accesses(function);
  CHECK(accesses[0].read);
  CHECK(!accesses[0].written);
  CHECK(!accesses[1].read);  // the init stores first
  CHECK(accesses[1].written);
}

TEST_CASE("rank 0 makes a block without axes") {
  LoopBuilder loops;
  const Buffer a = loops.input("A", f32({})), b = loops.output("B", f32({}));
  loops.spatial("B", {},
                [&](const std::vector<Scalar>& s) { return loops.store(b, s, loops.load(a, s) * 2); });
  const PrimFunc function = loops.finish("twice");
  REQUIRE(function.body.as<BlockStmt>());
  CHECK(function.body.as<BlockStmt>()->iters.empty());
}

TEST_CASE("a store before the load makes no input; one branch alone does not count before the other") {
  const Buffer a("A", DType::Float32, {Scalar(4)}), b("B", DType::Float32, {Scalar(4)});
  auto store = [](const Buffer& buffer, Scalar value) {
    return make_stmt(Store{buffer, {Scalar(0)}, std::move(value)});
  };
  const Scalar load_a = load(a, {Scalar(0)}), load_b = load(b, {Scalar(0)});
  PrimFunc function;
  function.params = {{a}, {b}};
  function.body = seq({store(a, load_a + 1), store(b, 0), store(b, load_b)});
  CHECK(param_accesses(function)[0].read);
  CHECK(param_accesses(function)[0].written);
  CHECK(!param_accesses(function)[1].read);
  function.body = make_stmt(IfStmt{load_a > 0, store(b, 0), store(b, load_b)});
  CHECK(param_accesses(function)[1].read);
  CHECK(param_accesses(function)[1].written);
}

TEST_CASE("sequences are flat and one statement stays itself") {
  const Stmt nothing = make_stmt(Evaluate{Scalar(0)});
  CHECK(seq({nothing}).same_as(nothing));
  CHECK(seq({seq({nothing, nothing}), nothing}).as<SeqStmt>()->body.size() == 3);
}

TEST_CASE("modules replace in place and give fresh names") {
  auto named = [](const char* name) {
    Function function;
    function.name = name;
    return GlobalFunction(std::make_shared<const Function>(function));
  };
  Module module;
  module.set(named("main"));
  module.set(named("f"));
  module.set(named("main"));
  CHECK(module.names() == std::vector<std::string>{"main", "f"});
  CHECK(module.function("f"));
  CHECK(!module.prim_func("f"));
  CHECK(!module.function("g"));
  CHECK(module.fresh_name("f") == "f1");
  CHECK(module.fresh_name("g") == "g");
  module.remove("main");
  CHECK(module.names() == std::vector<std::string>{"f"});
}

TEST_CASE("attributes compare and list") {
  CHECK(Attribute(1.0) == Attribute(1.0));
  CHECK(!(Attribute(1) == Attribute(1.0)));
  CHECK(int_list(attribute_of({1, 2})) == std::vector<std::int64_t>{1, 2});
  CHECK(int_list(Attribute(3)) == std::vector<std::int64_t>{3});
  const Attributes set = with_attribute(with_attribute({}, "a", 1), "a", 2);
  REQUIRE(set.size() == 1);
  CHECK(*find_attribute(set, "a") == Attribute(2));
}

}  // namespace
}  // namespace relish
