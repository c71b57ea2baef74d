// Negative log-likelihood of target classes.
#include "stdlib/families/reductions/nll_loss.h"

namespace relish::ops_nn_nll_loss {
namespace {

constexpr Param params[] = {
    {"predictions", ParamKind::Tensor, "tensor", "",
     "log-probabilities, (C,) or (N, C) or (N, C, d1) or (N, C, d1, d2)"},
    {"targets", ParamKind::Tensor, "tensor of integers", "",
     "the class of every position, (), (N,), (N, d1) or (N, d1, d2)"},
    {"weights", ParamKind::OptionalTensor, "tensor", "", "weight of every class, (C,); ones when absent"},
    {"reduction", ParamKind::Attribute, "str", "\"mean\"", "mean, sum or none"},
    {"ignore_index", ParamKind::Attribute, "int", "-100", "a target that does not count"}};

constexpr nll_loss::Operands operands{0};

Type infer(const CallView& call) {
  nll_loss::check(call, operands);
  return tensor_of(nll_loss::loss_shape(call, operands), call.tensor(0).dtype);
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  std::vector<GraphValue> args = {rule.cotangent(), rule.argument(0), rule.argument(1)};
  const bool weighted = operands.weighted(c.call);
  if (weighted) args.push_back(rule.argument(2));
  Partials partials = {call_op("grad.nll_loss_backward", args, nll_loss::attributes_of(c.call)).expr(),
                       std::nullopt};
  if (weighted) {
    partials.push_back(nll_loss::weights_partial(rule, rule.cotangent(), rule.argument(0), rule.argument(1),
                                                 rule.argument(2), rule.result())
                           .expr());
  }
  return partials;
}

constexpr Sample samples[] = {
    {"[[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\")", "1.125"},
    {"[[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\"), reduction=\"none\"",
     "[2.0, 0.25]"},
    {"[[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\"), [1.0, 2.0, 0.5], "
     "reduction=\"sum\"",
     "1.5"},
    {"[[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\"), [1.0, 2.0, 0.5]", "0.6"},
    {"[[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, -100], \"int32\")", "2.0"},
    {"[-0.5, -1.0, -2.0], R.const(1, \"int64\"), reduction=\"sum\"", "1.0"},
    {"rand((2, 3, 2), \"float64\"), R.const([[0, 1], [2, 1]], \"int64\"), rand((3,), \"float64\") + 0.5, "
     "ignore_index=1"},
    {"rand((1, 3, 2, 1), \"float64\"), R.const([[[0], [2]]], \"int64\"), reduction=\"none\""},
};
constexpr Reject rejects[] = {
    {"nll_loss.dtype", "R.const([[1, 2]], \"int32\"), R.const([0], \"int64\")", "expected a floating dtype"},
    {"nll_loss.targets", "rand((2, 3), \"float32\"), rand((2,), \"float32\")", "expected integers"},
    {"nll_loss.rank", "rand((2, 3), \"float32\"), R.const(1, \"int64\")", "expected 1"},
    {"nll_loss.shape", "rand((2, 3), \"float32\"), R.const([0, 1, 2], \"int64\")", "2 rows"},
    {"nll_loss.weights", "rand((2, 3), \"float32\"), R.const([0, 1], \"int64\"), rand((3, 1), \"float32\")",
     "expected 1"},
    {"nll_loss.reduction", "rand((2, 3), \"float32\"), R.const([0, 1], \"int64\"), reduction=\"max\"",
     "expected mean, sum or none"},
};

}  // namespace

extern const Op op_nn_nll_loss{
    .name = "nn.nll_loss",
    .summary = "Negative log-likelihood of target classes.",
    .params = params,
    .infer = infer,
    .eval = [](const EvalCall& c) { return nll_loss::evaluate(c, operands); },
    .lower = [](const LowerCall& c) { return nll_loss::lower(c, operands); },
    .vjp = vjp,
    .gradient_doc =
        "dpredictions = grad.nll_loss_backward(g, predictions, targets, weights); dweights by the same marks "
        "of the chosen classes",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Element: -predictions[n, targets[n]] * weights[targets[n]], or 0 where the target is ignore_index. "
        "sum adds "
        "them; mean divides by the sum of the weights that count, so it is NaN when every target is ignored; "
        "none keeps "
        "them. A target that is neither a class nor ignore_index is a RuntimeError."};

}  // namespace relish::ops_nn_nll_loss
