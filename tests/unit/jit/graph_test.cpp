// Whole Relax functions against the interpreter: operators, symbolic sizes, tuples, calls, match_cast,
// constants, threads.
#include <chrono>

#include "ir/operators/op.h"
#include "jit/steps/plan.h"
#include "stdlib/stdlib.h"
#include "tests/unit/jit/helpers.h"
#include "transform/gradient.h"

using namespace relish;
using namespace relish::test;

namespace {

// A function under construction: parameters, then calls, then the result.
struct Maker {
  FunctionBuilder builder;
  Function function;

  explicit Maker(std::string name) {
    install_stdlib();
    function.name = std::move(name);
  }
  Expr param(const std::string& name, Type type) {
    const Var var(name, std::move(type));
    builder.reserve_name(name);
    function.params.push_back(var);
    return Expr(var);
  }
  Expr operator()(std::string_view op, std::vector<Expr> args, Attributes attributes = {}) {
    const Op* found = find_op(op);
    REQUIRE(found != nullptr);
    for (const Param& p : found->params) {
      if (p.kind != ParamKind::Attribute || find_attribute(attributes, p.name)) continue;
      attributes.emplace_back(std::string(p.name), default_of(p));
    }
    return builder.call(op, std::move(args), std::move(attributes));
  }
  GlobalFunction finish(const Expr& result) {
    builder.end_block();
    function.blocks = builder.take_blocks();
    function.result = result;
    function.result_type = result.type();
    return std::make_shared<const Function>(function);
  }
};

// x (n, 784) -> sum of log_softmax(relu(x w0 + b0) w1 + b1) * y
GlobalFunction classifier(const Scalar& n, std::int64_t in, std::int64_t hidden, std::int64_t out) {
  Maker m("main");
  const Expr x = m.param("x", f32({n, Scalar(in)}));
  const Expr y = m.param("y", f32({n, Scalar(out)}));
  const Expr w0 = m.param("w0", f32({Scalar(in), Scalar(hidden)}));
  const Expr b0 = m.param("b0", f32({Scalar(hidden)}));
  const Expr w1 = m.param("w1", f32({Scalar(hidden), Scalar(out)}));
  const Expr b1 = m.param("b1", f32({Scalar(out)}));
  m.builder.begin_block(true);
  const Expr h = m("nn.relu", {m("add", {m("matmul", {x, w0}), b0})});
  const Expr logits = m("add", {m("matmul", {h, w1}), b1});
  const Expr scores = m("multiply", {m("nn.log_softmax", {logits}), y});
  const Var loss =
      m.builder.bind(op_call("sum", {scores}, {{"axis", Attribute()}, {"keepdims", false}}), "loss", true);
  return m.finish(Expr(loss));
}

std::vector<Value> classifier_args(std::int64_t n, std::int64_t in, std::int64_t hidden, std::int64_t out) {
  return {numbers(DType::Float32, {n, in}),          numbers(DType::Float32, {n, out}, 1),
          numbers(DType::Float32, {in, hidden}, 2),  numbers(DType::Float32, {hidden}, 3),
          numbers(DType::Float32, {hidden, out}, 4), numbers(DType::Float32, {out}, 5)};
}

}  // namespace

TEST_CASE("a two-layer classifier in a symbolic batch, with its gradient", "[jit]") {
  const ScalarVar n("n", DType::Int64);
  const ModulePtr module = module_of({classifier(n, 30, 17, 5)});
  const auto with_gradient =
      std::make_shared<const Module>(gradient(*module, "main", {{"w0", "b0", "w1", "b1"}, {}}));
  for (const std::int64_t batch : {1, 2, 9}) {
    in_both_tiers(module, "main", classifier_args(batch, 30, 17, 5), 2e-5);
    const Value both = in_both_tiers(with_gradient, "main_adjoint", classifier_args(batch, 30, 17, 5), 1e-4);
    CHECK(both.fields()[1].fields().size() == 4);
  }
}

TEST_CASE("results have the same bits for 1, 2 and 3 threads", "[jit]") {
  const ScalarVar n("n", DType::Int64);
  const ModulePtr module = module_of({classifier(n, 300, 129, 10)});
  const auto with_gradient =
      std::make_shared<const Module>(gradient(*module, "main", {{"w0", "b0", "w1", "b1"}, {}}));
  const std::vector<Value> args = classifier_args(64, 300, 129, 10);
  const Value one = make_jit({1})->call(with_gradient, "main_adjoint", args);
  for (const int threads : {2, 3}) {
    const auto evaluator = make_jit({threads});
    for (int round = 0; round < 3; ++round) {
      const Value found = evaluator->call(with_gradient, "main_adjoint", args);
      CHECK(identical(one.fields()[0].tensor(), found.fields()[0].tensor()));
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(identical(one.fields()[1].fields()[i].tensor(), found.fields()[1].fields()[i].tensor()));
    }
  }
}

TEST_CASE("tuples, aliases, constants, shapes and parameters as results", "[jit]") {
  Maker m("main");
  const ScalarVar n("n", DType::Int64);
  const Expr x = m.param("x", f32({n}));
  const Expr t = m.param("t", Type(TupleType{{f32({n}), f32({Scalar(2)})}}));
  const Expr c = constant(numbers(DType::Float32, {3}));
  const Expr first = Expr(m.builder.bind(tuple_get(t, 0)));
  const Expr sum = m("add", {x, first});
  const Expr alias = Expr(m.builder.bind(sum));
  const GlobalFunction function =
      m.finish(tuple({tuple({alias, x}), c, Expr(m.builder.bind(tuple_get(t, 1))), sum}));
  const ModulePtr module = module_of({function});
  const Tensor a = numbers(DType::Float32, {7});
  const Value result = in_both_tiers(
      module, "main", {a, Value::tuple({numbers(DType::Float32, {7}, 2), numbers(DType::Float32, {2})})});
  CHECK(result.fields()[0].fields()[1].tensor().same_storage(a));
  CHECK(result.fields()[3].tensor().same_storage(result.fields()[0].fields()[0].tensor()));
}

TEST_CASE("calls between functions: fresh results, parameters passed through, results that die", "[jit]") {
  const ScalarVar n("n", DType::Int64), k("k", DType::Int64);
  Maker inner("inner");
  const Expr p = inner.param("p", f32({k}));
  const Expr q = inner.param("q", f32({k}));
  const Expr r = inner("multiply", {p, q});
  const GlobalFunction callee = inner.finish(tuple({r, q, r}));
  Maker outer("main");
  const Expr x = outer.param("x", f32({n}));
  Expr value = x;
  for (int i = 0; i < 5; ++i) {
    const Expr pair = Expr(outer.builder.bind(function_call(global_ref(callee), {value, x})));
    const Expr product = Expr(outer.builder.bind(tuple_get(pair, 0)));
    const Expr same = Expr(outer.builder.bind(tuple_get(pair, 1)));
    value = outer("add", {product, same});
  }
  const Expr last = Expr(outer.builder.bind(function_call(global_ref(callee), {value, x})));
  const ModulePtr module = module_of({callee, outer.finish(last)});
  for (const std::int64_t size : {0, 1, 20, 5000})
    in_both_tiers(module, "main", {numbers(DType::Float32, {size})});
}

TEST_CASE("match_cast binds sizes and refuses others at its line", "[jit]") {
  const ScalarVar n("n", DType::Int64), m("m", DType::Int64);
  const Span line{1, 80, 90};
  Maker maker("main");
  const Expr x = maker.param("x", Type(TensorType{DType::Float32, std::nullopt, 2}));
  const Expr y = maker.param("y", f32({n}));
  const Var cast("cast", f32({n, m}));
  Binding binding;
  binding.kind = MatchCast{cast, x, f32({n, m})};
  binding.span = line;
  maker.builder.append(binding);
  const Expr total =
      maker("sum", {Expr(cast)}, {{"axis", Attribute(AttributeList{Attribute(1)})}, {"keepdims", false}});
  const ModulePtr module = module_of({maker.finish(maker("add", {total, y}))});
  in_both_tiers(module, "main", {numbers(DType::Float32, {3, 8}), numbers(DType::Float32, {3})});
  const Failure failure =
      failure_in_both_tiers(module, "main", {numbers(DType::Float32, {4, 8}), numbers(DType::Float32, {3})});
  CHECK(failure.error_class() == ErrorClass::Runtime);
  CHECK(failure.diagnostics()[0].span == line);
}

TEST_CASE("parameters of unknown shape are compiled for the arguments that come", "[jit]") {
  Maker maker("main");
  const Type unknown = TypeKind(TensorType{});
  const Expr x = maker.param("x", unknown);
  const Expr y = maker.param("y", unknown);
  const ModulePtr module = module_of({maker.finish(maker("multiply", {maker("add", {x, y}), y}))});
  for (const DType dtype : {DType::Float32, DType::Int32, DType::Float64})
    for (const std::int64_t size : {1, 4, 4})
      in_both_tiers(module, "main", {numbers(dtype, {3, size}), numbers(dtype, {size})});
  failure_in_both_tiers(module, "main", {numbers(DType::Float32, {3}), numbers(DType::Float32, {4})});
}

TEST_CASE("sizes that cannot be are refused, not computed with", "[jit]") {
  const ScalarVar n("n", DType::Int64);
  const bool negative = GENERATE(true, false);
  const Scalar rows = negative ? n - Scalar(8) : n * Scalar(std::int64_t{1} << 40);
  LoopBuilder b;
  const Buffer x = b.input("X", f32({n}));
  const Buffer y = b.output("Y", f32({rows, n * Scalar(1 << 20)}));
  b.spatial("Y", {rows, n * Scalar(1 << 20)},
            [&](const auto& s) { return b.store(y, {s[0], s[1]}, float_literal(DType::Float32, 1)); });
  const GlobalFunction fill = std::make_shared<const PrimFunc>(b.finish("fill"));
  for (const bool escapes : {true, false}) {
    Maker maker("main");
    const ScalarVar m("m", DType::Int64);
    const Scalar wanted = negative ? m - Scalar(8) : m * Scalar(std::int64_t{1} << 40);
    const Expr a = maker.param("a", f32({m}));
    const Expr filled = Expr(
        maker.builder.bind(call_tir(global_ref(fill), {a}, {f32({wanted, m * Scalar(1 << 20)})}, false)));
    const Expr total = maker("sum", {filled});
    const ModulePtr module = module_of({fill, maker.finish(escapes ? tuple({filled, total}) : total)});
    const Failure failure = failure_in_both_tiers(module, "main", {numbers(DType::Float32, {5})});
    CHECK(failure.error_class() == (negative ? ErrorClass::Runtime : ErrorClass::ResourceLimit));
  }
}

TEST_CASE("recursion without an end is a fault at the declaration", "[jit]") {
  const FunctionType type{{f32({Scalar(2)})}, f32({Scalar(2)})};
  Maker maker("main");
  const Expr x = maker.param("x", f32({Scalar(2)}));
  const Expr again =
      Expr(maker.builder.bind(function_call(global_ref("main", Type(type)), {maker("add", {x, x})})));
  const ModulePtr module = module_of({maker.finish(maker("add", {again, x}))});
  Failure failure = failure_in_both_tiers(module, "main", {numbers(DType::Float32, {2})});
  CHECK(failure.error_class() == ErrorClass::Runtime);
}

TEST_CASE("a memory plan shares slots of values that are not alive together", "[jit]") {
  const ScalarVar n("n", DType::Int64);
  const Scalar size = canonical(Scalar(4) * use(n));
  const std::vector<relish::jit::Life> chain = {{0, 1, size},       {1, 2, size},        {2, 3, size},
                                                {3, 4, Scalar(64)}, {4, 5, Scalar(128)}, {5, 6, Scalar(64)}};
  const relish::jit::MemoryPlan plan = relish::jit::plan_memory(chain);
  CHECK(plan.slots.size() == 4);
  CHECK(plan.slot_of[0] == plan.slot_of[2]);
  CHECK(plan.slot_of[0] != plan.slot_of[1]);
  CHECK(plan.slot_of[3] == plan.slot_of[5]);
  CHECK(plan.slot_of[3] != plan.slot_of[4]);
}

TEST_CASE("compilation and a training-sized step are fast", "[jit][.][speed]") {
  const ScalarVar n("n", DType::Int64);
  const ModulePtr module =
      module_of({classifier(GENERATE(true, false) ? Scalar(n) : Scalar(64), 784, 128, 10)});
  const auto step = std::make_shared<const Module>(gradient(*module, "main", {{"w0", "b0", "w1", "b1"}, {}}));
  const std::vector<Value> args = classifier_args(64, 784, 128, 10);
  const auto milliseconds = [](auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  for (const int threads : {1, 2}) {
    const auto evaluator = make_jit({threads});
    const double first = milliseconds([&] { evaluator->call(step, "main_adjoint", args); });
    double best = 1e9;
    for (int i = 0; i < 50; ++i)
      best = std::min(best, milliseconds([&] { evaluator->call(step, "main_adjoint", args); }));
    std::printf("threads %d: first call %.1f ms, then %.3f ms\n", threads, first, best);
  }
}

TEST_CASE("arguments are matched again when they are others than before", "[jit]") {
  const auto engine = make_jit({.threads = 1});
  const ModulePtr module = module_from(
      "@R.function\ndef main(x: R.Tensor((2, 3), \"float32\"), y: R.Tensor((3,), \"float32\")):\n"
      "    return R.add(x, y)\n");
  const Value x = numbers(DType::Float32, {2, 3}), y = numbers(DType::Float32, {3});
  const auto told = [&](const Value& a, const Value& b) -> std::string {
    try {
      engine->call(module, "main", {a, b});
    } catch (const Failure& failure) {
      return failure.diagnostics().front().id;
    }
    return "nothing";
  };
  for (int round = 0; round < 2; ++round) {
    CHECK(told(x, y) == "nothing");
    CHECK(told(x, y) == "nothing");
    CHECK(told(x, numbers(DType::Float32, {1})) == "entry.dimension");
    CHECK(told(numbers(DType::Float32, {3, 2}), y) == "entry.dimension");
    CHECK(told(x, numbers(DType::Float64, {3})) == "entry.type");
    CHECK(told(x, Value(ShapeValue{{3}})) == "entry.type");
    CHECK(told(x, numbers(DType::Float32, {3, 1})) == "entry.type");
  }
}
