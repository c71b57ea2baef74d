// Tiers beside each other: an evaluator that is wrong in one place is found there, and rounding is none.
#include "transform/compare_evaluators.h"

#include <limits>

#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"

using namespace relish;
using namespace relish::test;

namespace {

using Change = std::function<Value(std::string_view function, Value result)>;

// The interpreter with results that are changed.
class Wrong final : public Evaluator {
 public:
  explicit Wrong(Change change) : change_(std::move(change)) {}
  std::string_view name() const override { return "wrong"; }
  Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
    return change_(function, interpreter_->call(module, function, std::move(args)));
  }

 private:
  const std::unique_ptr<Evaluator> interpreter_ = make_interpreter();
  const Change change_;
};

// One element of one field, so many units in the last place higher.
Value raised(const Value& result, std::size_t field, std::int64_t element, int units) {
  std::vector<Value> fields = result.fields();
  Tensor changed = fields[field].tensor().copy();
  auto value = static_cast<float>(changed.get_double(element));
  for (int i = 0; i < units; ++i) value = std::nextafter(value, std::numeric_limits<float>::infinity());
  changed.set_double(element, value);
  fields[field] = changed;
  return Value::tuple(std::move(fields));
}

ModulePtr model() {
  return module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @R.function\n"
      "    def layer(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, 4), \"float32\")):\n"
      "        p = R.matmul(x, w)\n"
      "        return R.tanh(p)\n"
      "    @R.function\n"
      "    def main(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((3, 4), \"float32\")):\n"
      "        with R.dataflow():\n"
      "            a = R.add(x, x)\n"
      "            s = R.sum(a, axis=[0])\n"
      "            e = R.exp(a)\n"
      "            y = M.layer(e, w)\n"
      "            R.output(s, y)\n"
      "        return s, y\n");
}

const std::vector<Value>& arguments() {
  static const std::vector<Value> made = {numbers(DType::Float32, {2, 3}),
                                          numbers(DType::Float32, {3, 4}, 5)};
  return made;
}

EvaluatorComparison compared(const Change& change) {
  Wrong wrong(change);
  return compare_evaluators(model(), "main", arguments(), *make_interpreter(), wrong);
}

EvaluatorComparison with_binding(std::size_t field, std::int64_t element, int units) {
  return compared([=](std::string_view function, Value result) {
    return function == "main_bindings" ? raised(result, field, element, units) : result;
  });
}

}  // namespace

TEST_CASE("an element of a running sum has as many terms as stand before it") {
  const ModulePtr module = module_from(
      "@R.function\n"
      "def f(x: R.Tensor((17, 5), \"float32\")):\n"
      "    v = R.cumsum(x, axis=0)\n"
      "    return (v,)\n");
  Tensor x = Tensor::empty(DType::Float32, {17, 5});
  for (std::int64_t i = 0; i < x.size(); ++i) x.set_double(i, i % 2 ? 1.5 : -1.25);
  const auto interpreter = make_interpreter();
  const auto off_by = [&](int units) {
    Wrong other([&](std::string_view, const Value& result) { return raised(result, 0, 16 * 5, units); });
    return compare_evaluators(module, "f", {x}, *interpreter, other).first.has_value();
  };
  // The last row adds 17 terms of both signs, 23.25 by their magnitudes, to 0.75: at most 17 half units of
  // those, which are 397 units of that.
  CHECK_FALSE(off_by(17));
  CHECK(off_by(30 * 17));
}

TEST_CASE("compiled code agrees with the interpreter", "[jit][compare]") {
  const EvaluatorComparison found =
      compare_evaluators(model(), "main", arguments(), *make_interpreter(), compiled_tier());
  CHECK_FALSE(found.first.has_value());
  CHECK(found.bindings == 4);
  CHECK(found.largest_distance <= 16);
  const EvaluatorComparison same = compared([](std::string_view, Value result) { return result; });
  CHECK_FALSE(same.first.has_value());
  CHECK(same.largest_distance == 0);
}

TEST_CASE("an exact operator that is wrong by one unit is named, with its place", "[jit][compare]") {
  const EvaluatorComparison found = with_binding(0, 4, 1);
  REQUIRE(found.first.has_value());
  CHECK(found.first->binding == "a");
  CHECK(found.first->function == "main");
  CHECK(found.first->place == "[1, 1]");
  CHECK(found.first->distance == 1);
  CHECK(found.first->wanted != found.first->found);
  CHECK(Sources::instance().find(found.first->span.file)->position(found.first->span.begin).line == 10);
}

TEST_CASE("sums and functions may differ by their class, and no more", "[jit][compare]") {
  const EvaluatorComparison sum = with_binding(1, 2, 1);
  CHECK_FALSE(sum.first.has_value());
  CHECK(sum.largest_distance == 1);
  CHECK(sum.largest_binding == "s");
  REQUIRE(with_binding(1, 2, 40).first.has_value());
  CHECK(with_binding(1, 2, 40).first->binding == "s");
  CHECK_FALSE(with_binding(2, 0, 4).first.has_value());
  REQUIRE(with_binding(2, 0, 5).first.has_value());
  CHECK(with_binding(2, 0, 5).first->binding == "e");
  CHECK(with_binding(2, 0, 5).first->distance == 5);
}

TEST_CASE("a call that differs is entered", "[jit][compare]") {
  const EvaluatorComparison found = compared([](std::string_view function, Value result) {
    if (function == "main_bindings") return raised(result, 3, 0, 100'000);
    return function == "layer_bindings" ? raised(result, 0, 3, 100'000) : result;
  });
  REQUIRE(found.first.has_value());
  CHECK(found.first->binding == "p");
  CHECK(found.first->function == "layer");
  CHECK(found.first->place == "[0, 3]");
  // Where the callee agrees, it is the call.
  const EvaluatorComparison outside = with_binding(3, 1, 100'000);
  REQUIRE(outside.first.has_value());
  CHECK(outside.first->binding == "y");
}

TEST_CASE("what only the whole function does wrong is told of its result", "[jit][compare]") {
  const EvaluatorComparison found = compared([](std::string_view function, Value result) {
    return function == "main" ? raised(result, 1, 7, 100'000) : result;
  });
  REQUIRE(found.first.has_value());
  CHECK(found.first->binding.empty());
  CHECK(found.first->place == "1.[1, 3]");
}

TEST_CASE("a fault of one tier alone is the difference", "[jit][compare]") {
  const EvaluatorComparison found = compared([](std::string_view, Value) -> Value {
    fail(ErrorClass::Runtime, {}, "index.range", "an index is out of range");
  });
  REQUIRE(found.first.has_value());
  CHECK(found.first->found == "an index is out of range");
}

TEST_CASE("NaN is NaN, and the zeros of exact operators have signs", "[jit][compare]") {
  const ModulePtr module = module_from(
      "@R.function\n"
      "def main(x: R.Tensor((2,), \"float32\")):\n"
      "    return R.negative(x)\n");
  Tensor x = Tensor::empty(DType::Float32, {2});
  x.set_double(0, std::nan(""));
  x.set_double(1, 0);
  CHECK_FALSE(
      compare_evaluators(module, "main", {x}, *make_interpreter(), compiled_tier()).first.has_value());
  Wrong wrong([](std::string_view, Value result) {
    const bool tuple = result.is_tuple();
    Tensor changed = (tuple ? result.fields()[0] : result).tensor().copy();
    changed.set_double(1, 0);
    return tuple ? Value::tuple({changed}) : Value(changed);
  });
  CHECK(compare_evaluators(module, "main", {x}, *make_interpreter(), wrong).first.has_value());
}

namespace {

// How the first element of the one result of the prim_func f may differ, in units in the last place, of 4
// and 16.
std::pair<bool, bool> prim_func_agrees(const std::string& body) {
  const ModulePtr module = module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @T.prim_func\n"
      "    def f(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n" +
      body +
      "    @R.function\n"
      "    def main(x: R.Tensor((8,), \"float32\")):\n"
      "        y = R.call_tir(M.f, (x,), out_sinfo=R.Tensor((8,), \"float32\"))\n"
      "        return y\n");
  const Tensor x = numbers(DType::Float32, {8});
  const auto agrees = [&](int units) {
    Wrong wrong([&](std::string_view function, Value result) {
      return function == "main_bindings" ? raised(result, 0, 0, units) : result;
    });
    return !compare_evaluators(module, "main", {x}, *make_interpreter(), wrong).first.has_value();
  };
  return {agrees(4), agrees(16)};
}

}  // namespace

TEST_CASE("a prim_func may differ by what its functions and sums are joined to", "[jit][compare]") {
  using Pair = std::pair<bool, bool>;
  const std::string loop = "        for i in range(8):\n";
  // Exact, a function alone, a function that is computed with, in one expression and through a buffer.
  CHECK(prim_func_agrees(loop + "            B[i] = A[i] * T.float32(2)\n") == Pair(false, false));
  CHECK(prim_func_agrees(loop + "            B[i] = T.exp(A[i])\n") == Pair(true, false));
  CHECK(prim_func_agrees(loop + "            B[i] = T.exp(A[i]) - A[i]\n") == Pair(true, true));
  CHECK(prim_func_agrees("        C = T.sblock_alloc_buffer((8,), \"float32\")\n" + loop +
                         "            C[i] = T.exp(A[i])\n" + loop + "            B[i] = C[i] - A[i]\n") ==
        Pair(true, true));
  // A sum in the store, and one whose loads stand in a let; a buffer that is read elsewhere is no sum.
  CHECK(prim_func_agrees(loop + "            B[i] = A[i]\n        for k in range(8):\n"
                                "            B[0] = B[0] + A[k]\n") == Pair(true, true));
  CHECK(prim_func_agrees(loop + "            B[i] = A[i]\n        for k in range(8):\n"
                                "            s: T.let[T.float32] = B[0] + A[k]\n            B[0] = s\n") ==
        Pair(true, true));
  CHECK(prim_func_agrees(loop + "            s: T.let[T.float32] = A[i] * A[i]\n            B[i] = s\n") ==
        Pair(false, false));
}

TEST_CASE("a whole function may differ by the digits of its coarsest value", "[jit][compare]") {
  const auto agrees = [](const std::string& dtype) {
    const ModulePtr module = module_from(
        "@R.function\n"
        "def main(x: R.Tensor((8,), \"float32\")):\n"
        "    a = R.astype(x, \"" +
        dtype +
        "\")\n"
        "    b = R.exp(a)\n"
        "    c = R.sum(b, axis=[0], keepdims=True)\n"
        "    return (R.astype(c, \"float32\"),)\n");
    // A two-hundredth of the sum: more than float32 may differ, less than float16.
    Wrong wrong([](std::string_view function, Value result) {
      if (function != "main") return result;
      Tensor changed = result.fields()[0].tensor().copy();
      changed.set_double(0, changed.get_double(0) * 1.005);
      return Value::tuple({changed});
    });
    return !compare_evaluators(module, "main", {numbers(DType::Float32, {8})}, *make_interpreter(), wrong)
                .first.has_value();
  };
  CHECK(agrees("float16"));
  CHECK_FALSE(agrees("float32"));
}

TEST_CASE("what is left of a sum's large terms is held against those terms", "[jit][compare]") {
  const ModulePtr module = module_from(
      "@I.ir_module\n"
      "class M:\n"
      "    @T.prim_func\n"
      "    def loops(A: T.Buffer((1, 64), \"float32\"), B: T.Buffer((64, 2), \"float32\"), C: T.Buffer((1, 2), "
      "\"float32\")):\n"
      "        for i, j, k in T.grid(1, 2, 64):\n"
      "            with T.sblock(\"C\"):\n"
      "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
      "                with T.init():\n"
      "                    C[vi, vj] = T.float32(0)\n"
      "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
      "    @R.function\n"
      "    def product(a: R.Tensor((1, 64), \"float32\"), b: R.Tensor((64, 2), \"float32\")):\n"
      "        return R.matmul(a, b)\n"
      "    @R.function\n"
      "    def called(a: R.Tensor((1, 64), \"float32\"), b: R.Tensor((64, 2), \"float32\")):\n"
      "        return R.call_tir(M.loops, (a, b), out_ty=R.Tensor((1, 2), \"float32\"))\n"
      "    @R.function\n"
      "    def model(a: R.Tensor((1, 64), \"float32\"), b: R.Tensor((64, 2), \"float32\")):\n"
      "        c = R.matmul(a, b)\n"
      "        return R.add(c, c)\n");
  // The first sum is small and has terms of 1000, as the second, large one.
  Tensor a = Tensor::empty(DType::Float32, {1, 64}), b = Tensor::empty(DType::Float32, {64, 2});
  for (std::int64_t i = 0; i < 64; ++i) {
    a.set_double(i, i == 0 ? 1000.5 : 1000);
    b.set_double(i * 2, i % 2 ? -1 : 1);
    b.set_double(i * 2 + 1, 1);
  }
  const auto differs = [&](std::string_view name, double off) {
    Wrong wrong([&](std::string_view function, const Value& result) {
      if (function != name) return result;
      Tensor changed = result.tensor().copy();
      changed.set_double(0, changed.get_double(0) + off);
      return Value(changed);
    });
    return compare_evaluators(module, name, {a, b}, *make_interpreter(), wrong).first.has_value();
  };
  for (const std::string_view name : {"product", "loops", "called", "model"}) {
    CAPTURE(name);
    CHECK_FALSE(differs(name, 1e-3));
    CHECK(differs(name, 50));
  }
}
