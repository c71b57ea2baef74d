// Making of the functions whose gradients are second derivatives.
#include "tests/ops/second_case.h"

#include "ir/calls/entry.h"
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

}  // namespace

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

}  // namespace relish::testing
