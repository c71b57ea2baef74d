// Gradients within a memory budget: of a language model and an image classifier, and of a chain of layers.
// What the budget says is held by the plan and by the run, the numbers stay, and no pass behind it takes it
// back.
#include <fstream>
#include <iterator>

#include "support/limits.h"
#include "support/memory.h"
#include "support/memory_reserve.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"
#include "transform/append_loss.h"
#include "transform/canonicalize.h"
#include "transform/common_values.h"
#include "transform/fold.h"
#include "transform/gradient.h"
#include "transform/simplify.h"

using namespace relish;
using namespace relish::test;

namespace {

std::vector<Value> inputs_of(const Module& module, const std::string& name) {
  std::vector<Value> inputs;
  for (const Var& param : module.function(name)->params) {
    const TensorType& type = *param.type().tensor();
    Shape shape;
    for (const Scalar& dim : *type.shape) shape.push_back(*dim.as_int());
    inputs.emplace_back(is_float(*type.dtype) ? numbers(*type.dtype, shape)
                                              : Tensor::zeros(*type.dtype, shape));
  }
  return inputs;
}

std::int64_t peak_of(const ModulePtr& module, const std::string& name) {
  return footprint_of(module, name, inputs_of(*module, name), 1).peak;
}

bool same(const Value& a, const Value& b) {
  if (a.is_tuple()) {
    for (std::size_t i = 0; i < a.fields().size(); ++i)
      if (!same(a.fields()[i], b.fields()[i])) return false;
    return true;
  }
  if (!a.is_tensor()) return true;
  for (std::int64_t i = 0; i < a.tensor().size(); ++i) {
    const double x = a.tensor().get_double(i), y = b.tensor().get_double(i);
    if (std::abs(x - y) > 1e-5 * std::max(1.0, std::abs(x))) return false;
  }
  return true;
}

// Whether a call holds no more than so many bytes, arguments among them, when it runs.
bool runs_within(const ModulePtr& module, const std::string& name, std::int64_t bytes) {
  const std::vector<Value> inputs = inputs_of(*module, name);
  const auto engine = make_jit({.threads = 1});
  engine->prepare(module, name, inputs);
  give_reserves_back();
  std::uint64_t others = memory_held();
  for (const Value& input : inputs) others -= static_cast<std::uint64_t>(input.tensor().byte_size());
  const std::uint64_t before = limits().memory_bytes;
  limits().memory_bytes = others + static_cast<std::uint64_t>(bytes);
  bool held = true;
  try {
    engine->call(module, name, inputs);
  } catch (const Failure& failure) {
    CHECK(failure.error_class() == ErrorClass::ResourceLimit);
    held = false;
  }
  limits().memory_bytes = before;
  return held;
}

// How many of the shares of the peak without a budget could be held.
int held_budgets(const Module& module, const std::string& name, const std::vector<int>& shares) {
  const std::string adjoint = name + "_adjoint";
  const auto all = std::make_shared<const Module>(gradient(module, name));
  const std::int64_t most = peak_of(all, adjoint);
  const Value wanted = make_jit({.threads = 1})->call(all, adjoint, inputs_of(*all, adjoint));
  int held = 0;
  for (const int share : shares) {
    INFO(share << " % of " << most);
    BudgetReport report;
    GradientOptions options;
    options.budget = MemoryBudget{most * share / 100, peak_of};
    options.report = &report;
    try {
      const auto within = std::make_shared<const Module>(gradient(module, name, options));
      ++held;
      CHECK(report.unbound == most);
      CHECK(report.peak <= options.budget->bytes);
      CHECK(report.peak == peak_of(within, adjoint));
      CHECK(report.work > 0);
      CHECK(same(make_jit({.threads = 1})->call(within, adjoint, inputs_of(*within, adjoint)), wanted));
      CHECK(runs_within(within, adjoint, report.peak + report.peak / 20));
      CHECK_FALSE(runs_within(within, adjoint, report.peak - report.peak / 20));
      const auto later = std::make_shared<const Module>(
          eliminate_common_values(simplify(canonicalize(fold(eliminate_common_values(*within))))));
      CHECK(peak_of(later, adjoint) <= options.budget->bytes);
    } catch (const Failure& failure) {
      REQUIRE(failure.diagnostics().front().id == "gradient.budget");
      // The least that it names can be had.
      const std::string& message = failure.diagnostics().front().message;
      const std::int64_t least = std::stoll(message.substr(message.find("holds ") + 6));
      CHECK(least > options.budget->bytes);
      options.budget->bytes = least;
      gradient(module, name, options);
      CHECK(report.peak == least);
    }
  }
  return held;
}

// Of a model of tests/models, with a loss on its first result.
int held_budgets_of_model(const std::string& name) {
  std::ifstream stream(std::string(RELISH_SOURCE_DIR) + "/tests/models/" + name);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  AppendLossOptions options;
  options.loss = parse_named_spec("mse");
  return held_budgets(append_loss(*module_from(text), "main", options), "main_loss", {75, 50, 30});
}

}  // namespace

TEST_CASE("budgets of the transformer and of the convnet are held, or refused with the least figure",
          "[jit]") {
  CHECK(held_budgets_of_model("transformer/transformer.relish") >= 0);
  CHECK(held_budgets_of_model("convnet/convnet.relish") >= 0);
}

TEST_CASE("budgets of a recurrence are held by what its rounds begin with, and by segments of rounds",
          "[jit]") {
  const std::string text =
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((60, 16, 32), \"float32\"), "
      "h: R.Tensor((16, 64), \"float32\"), w: R.Tensor((32, 64), \"float32\"), "
      "u: R.Tensor((64, 64), \"float32\")):\n"
      "        for i in range(60):\n"
      "            a = R.add(R.matmul(R.take(x, R.prim_value(i), axis=0), w), R.matmul(h, u))\n"
      "            z = R.sigmoid(a)\n"
      "            h = R.add(R.multiply(z, h), R.multiply(R.subtract(R.const(1.0, \"float32\"), z), "
      "R.tanh(R.multiply(a, R.exp(z)))))\n"
      "        return R.sum(R.multiply(h, h))\n";
  CHECK(held_budgets(*module_from(text), "main", {75, 50, 30}) >= 2);
}

TEST_CASE("budgets of loops in loops, of rounds that are left over and of what is called are held", "[jit]") {
  const std::string text =
      "@I.ir_module\nclass M:\n    @R.function(private=True)\n"
      "    def cell(h: R.Tensor((128, 128), \"float32\"), w: R.Tensor((128, 128), \"float32\")):\n"
      "        a = R.tanh(R.matmul(h, w))\n"
      "        b = R.sigmoid(R.multiply(a, R.exp(R.negative(a))))\n"
      "        return R.multiply(R.sin(b), a)\n"
      "    @R.function\n    def main(h: R.Tensor((128, 128), \"float32\"), "
      "w: R.Tensor((128, 128), \"float32\")):\n"
      "        cls = M\n"
      "        g = h\n"
      "        for i in range(3, 28, 3):\n"
      "            for j in range(9):\n"
      "                h = R.add(cls.cell(h, w), R.multiply(g, R.const(0.5, \"float32\")))\n"
      "            g = R.sin(R.add(g, h))\n"
      "        return R.sum(R.multiply(h, g))\n";
  CHECK(held_budgets(*module_from(text), "main", {75, 50, 30}) == 3);
}

TEST_CASE("what tapes of loops and recursion took is given back", "[jit]") {
  const ModulePtr module = module_from(
      "@I.ir_module\nclass M:\n    @R.function(private=True)\n"
      "    def power(x: R.Tensor((64,), \"float32\"), n: R.Prim(\"int64\")) -> R.Tensor((64,), \"float32\"):\n"
      "        cls = M\n"
      "        y = x\n"
      "        if n > 0:\n"
      "            y = R.multiply(R.cos(cls.power(x, n - 1)), x)\n"
      "            while R.greater(R.sum(y), R.const(1.0, \"float32\")):\n"
      "                y = R.multiply(R.sin(y), R.const(0.5, \"float32\"))\n"
      "        return y\n"
      "    @R.function\n    def main(x: R.Tensor((64,), \"float32\"), n: R.Prim(\"int64\")):\n"
      "        cls = M\n"
      "        return R.sum(cls.power(x, n))\n");
  const auto made = std::make_shared<const Module>(gradient(*module, "main"));
  const auto engine = make_jit({.threads = 1});
  const auto held_behind = [&](std::int64_t depth) {
    engine->call(made, "main_adjoint", {numbers(DType::Float32, {64}), Value(ScalarValue::of_int(depth))});
    give_reserves_back();
    return memory_held();
  };
  const std::uint64_t before = held_behind(10);
  CHECK(held_behind(2000) <= before + 10'000);
}

TEST_CASE("budgets of a chain of layers are held", "[jit]") {
  std::string text =
      "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((512, 64), \"float32\"), "
      "w: R.Tensor((64, 64), \"float32\")):\n";
  for (int i = 0; i < 32; ++i) text += "        x = R.tanh(R.matmul(x, w))\n";
  text += "        return R.sum(x)\n";
  CHECK(held_budgets(*module_from(text), "main", {75, 50, 30}) >= 2);
}
