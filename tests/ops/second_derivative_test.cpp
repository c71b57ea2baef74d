// Second derivatives: the gradient of a sum of first partials, against differences of it. So every operator
// that a rule emits has a rule, and the rules are those of what they emit.
#include <catch2/catch.hpp>

#include <cmath>

#include "ir/calls/entry.h"
#include "tests/ops/gradient_case.h"
#include "transform/gradient.h"

namespace relish::testing {
namespace {

// Weights of the partials: fixed numbers in [-1, 1].
Tensor weights_like(const Tensor& x, std::size_t which) {
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.set_double(
        i, static_cast<double>((i * 41 + static_cast<std::int64_t>(which) * 17 + 5) % 89) / 44.5 - 1);
  return result;
}

struct SecondCase {
  ModulePtr module;           // `slope(inputs…, weights…) -> sum of weights * partials`, and `slope_adjoint`
  std::vector<Value> inputs;  // of both
  std::vector<std::size_t> wrt;
};

SecondCase second_case(const GradientCase& first) {
  SecondCase result;
  Function function = *first.module->function("main_adjoint");
  function.name = "slope";
  result.inputs = first.inputs;
  result.wrt = first.wrt;
  const Expr partials = function.result.as<TupleExpr>()->fields.at(1);
  std::vector<Var> weights;
  for (std::size_t k = 0; k < first.wrt.size(); ++k) {
    const Tensor weight = weights_like(first.inputs[first.wrt[k]].tensor(), k);
    weights.emplace_back(fmt::format("w{}", k), type_of(Value(weight)));
    function.params.push_back(weights.back());
    result.inputs.emplace_back(weight);
  }
  FunctionBuilder builder;
  for (const Var& param : function.params) builder.reserve_name(param.name());
  builder.reserve_name("slope");
  builder.begin_block(true);
  Expr total;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Expr weighted = builder.call("multiply", {partials.as<TupleExpr>()->fields.at(k), weights[k]});
    const Expr sum = builder.call("sum", {weighted});
    total = total.defined() ? builder.call("add", {total, sum}) : sum;
  }
  // An output of its own, whatever made the sum.
  const Var slope = builder.bind(op_call("negative", {total}), "slope_out", true);
  builder.end_block();
  for (BindingBlock& block : builder.take_blocks()) function.blocks.push_back(std::move(block));
  function.result = slope;
  function.result_type = slope.type();
  Module module;
  module.name = "Case";
  GradientOptions options;
  for (std::size_t i : first.wrt) options.wrt.push_back(function.params[i].name());
  module.set(std::make_shared<const Function>(std::move(function)));
  result.module = std::make_shared<const Module>(gradient(module, "slope", options));
  return result;
}

double slope_at(const SecondCase& second, std::size_t input, std::int64_t element, double step) {
  std::vector<Value> at = second.inputs;
  Tensor moved = at[input].tensor().copy();
  moved.set_double(element, moved.get_double(element) + step);
  at[input] = moved;
  return interpreter().call(second.module, "slope", at).tensor().get_double(0);
}

void check_second(const SecondCase& second) {
  const Value answer = interpreter().call(second.module, "slope_adjoint", second.inputs);
  const Value compiled = jit(1).call(second.module, "slope_adjoint", second.inputs);
  for (std::size_t k = 0; k < second.wrt.size(); ++k) {
    const Tensor& partial = answer.fields().at(1).fields().at(k).tensor();
    const Tensor& fast = compiled.fields().at(1).fields().at(k).tensor();
    const std::size_t input = second.wrt[k];
    // Four elements of each input tell whether the rule is right.
    const std::int64_t stride = std::max<std::int64_t>(partial.size() / 4, 1);
    for (std::int64_t i = 0; i < partial.size(); i += stride) {
      const double h = 1e-3;
      const double numeric = (slope_at(second, input, i, -2 * h) - 8 * slope_at(second, input, i, -h) +
                              8 * slope_at(second, input, i, h) - slope_at(second, input, i, 2 * h)) /
                             (12 * h);
      const double analytic = partial.get_double(i);
      INFO("input " << input << " element " << i << ": analytic " << analytic << ", differences " << numeric);
      CHECK(std::abs(numeric - analytic) <= 1e-5 * std::abs(analytic) + 1e-7);
      CHECK(std::abs(fast.get_double(i) - analytic) <= 1e-9 * std::abs(analytic) + 1e-12);
    }
  }
}

}  // namespace

TEST_CASE("second derivatives agree with differences of the first", "[ops]") {
  for (const Op* op : operators_under_test()) {
    if (!op->vjp) continue;
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      if (!sample.check_gradient) continue;
      INFO(label);
      try {
        const std::optional<OperatorCase> wide = float64_case(*op, sample, label);
        if (!wide) continue;
        check_second(second_case(gradient_case(*wide)));
      } catch (const Failure& failure) {
        const Diagnostic& diagnostic = failure.diagnostics().front();
        FAIL_CHECK(diagnostic.message << " [" << diagnostic.id << "]");
      }
    }
  }
}

}  // namespace relish::testing
