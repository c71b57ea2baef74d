// The gradient of nn.nll_loss for its predictions.
#include "ir/printer/printer.h"
#include "stdlib/families/reductions/nll_loss.h"

namespace relish::ops_grad_nll_loss_backward {
namespace {

constexpr Param params[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "",
     "cotangent of the loss: rank 0, or the shape of targets for none"},
    {"predictions", ParamKind::Tensor, "tensor", "", "as in nn.nll_loss; only its shape and dtype count"},
    {"targets", ParamKind::Tensor, "tensor of integers", "", "the class of every position"},
    {"weights", ParamKind::OptionalTensor, "tensor", "", "weight of every class, (C,); ones when absent"},
    {"reduction", ParamKind::Attribute, "str", "\"mean\"", "mean, sum or none"},
    {"ignore_index", ParamKind::Attribute, "int", "-100", "a target that does not count"}};

constexpr nll_loss::Operands operands{1};

Type infer(const CallView& call) {
  require_float(call, 0);
  nll_loss::check(call, operands);
  common_dtype(call, 0, operands.predictions());
  const BroadcastShape wanted = nll_loss::loss_shape(call, operands), given = shape_of(call.tensor(0));
  bool different = given.rank >= 0 && wanted.rank >= 0 && given.rank != wanted.rank;
  if (!different && given.dims && wanted.dims) {
    for (std::size_t i = 0; i < given.dims->size(); ++i)
      different |= prove_different((*given.dims)[i], (*wanted.dims)[i]);
  }
  if (different) {
    call.reject("output_grad", call.span_of(0),
                fmt::format("output_grad has type {}, expected that of the loss, {}",
                            print(call.args[0].type()), print(tensor_of(wanted, call.tensor(0).dtype))));
  }
  return call.tensor(operands.predictions());
}

// The operator is linear in output_grad, the transpose of nn.nll_loss, which is linear in its predictions.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent(), targets = rule.argument(operands.targets());
  const bool weighted = operands.weighted(c.call);
  std::vector<GraphValue> args = {g, targets};
  if (weighted) args.push_back(rule.argument(operands.weights()));
  const GraphValue loss = call_op("nn.nll_loss", args, nll_loss::attributes_of(c.call));
  Partials partials = {std::nullopt, std::nullopt, std::nullopt};
  if (weighted) {
    loss.leaf();
    partials.push_back(
        nll_loss::weights_partial(rule, rule.argument(0), g, targets, rule.argument(operands.weights()), loss)
            .expr());
  }
  partials[0] = loss.expr();
  return partials;
}

constexpr Sample samples[] = {
    {"R.const(1.0, \"float32\"), [[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\")",
     "[[0.0, 0.0, -0.5], [0.0, -0.5, 0.0]]"},
    {"[1.0, 10.0], [[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\"), reduction=\"none\"",
     "[[0.0, 0.0, -1.0], [0.0, -10.0, 0.0]]"},
    {"R.const(2.0, \"float32\"), [[-0.5, -1.0, -2.0], [-3.0, -0.25, -1.5]], R.const([2, 1], \"int64\"), "
     "[1.0, 2.0, 0.5], "
     "reduction=\"sum\"",
     "[[0.0, 0.0, -1.0], [0.0, -4.0, 0.0]]"},
    {"R.const(1.0, \"float32\"), [[-0.5, -1.0], [-3.0, -0.25]], R.const([1, -100], \"int64\")",
     "[[0.0, -1.0], [0.0, 0.0]]"},
    {"rand((2, 2), \"float64\"), rand((2, 3, 2), \"float64\"), R.const([[0, 1], [2, 1]], \"int64\"), "
     "rand((3,), \"float64\") + 0.5, reduction=\"none\", ignore_index=1"},
    {"rand((), \"float64\"), rand((3,), \"float64\"), R.const(1, \"int64\")"},
};
constexpr Reject rejects[] = {
    {"nll_loss_backward.output_grad",
     "rand((2,), \"float32\"), rand((2, 3), \"float32\"), R.const([0, 1], \"int64\")",
     "expected that of the loss"},
    {"nll_loss_backward.dtype",
     "rand((), \"float64\"), rand((2, 3), \"float32\"), R.const([0, 1], \"int64\")", "expected the same"},
    {"nll_loss_backward.targets", "rand((), \"float32\"), rand((2, 3), \"float32\"), rand((2,), \"float32\")",
     "expected integers"},
    {"nll_loss_backward.rank", "rand((), \"float32\"), rand((), \"float32\"), R.const([0, 1], \"int64\")",
     "expected 1 to 4"},
    {"nll_loss_backward.shape", "rand((), \"float32\"), rand((2, 3), \"float32\"), R.const([0], \"int64\")",
     "2 rows"},
    {"nll_loss_backward.weights",
     "rand((), \"float32\"), rand((2, 3), \"float32\"), R.const([0, 1], \"int64\"), rand((), \"float32\")",
     "expected 1"},
    {"nll_loss_backward.reduction",
     "rand((), \"float32\"), rand((2, 3), \"float32\"), R.const([0, 1], \"int64\"), reduction=\"max\"",
     "expected mean, sum or none"},
};

}  // namespace

extern const Op op_grad_nll_loss_backward{
    .name = "grad.nll_loss_backward",
    .summary = "The gradient of nn.nll_loss for its predictions.",
    .params = params,
    .infer = infer,
    .eval = [](const EvalCall& c) { return nll_loss::evaluate_backward(c, operands, c.in(0)); },
    .lower = [](const LowerCall& c) { return nll_loss::lower_backward(c, operands); },
    .vjp = vjp,
    .gradient_doc =
        "doutput_grad = nn.nll_loss(g, targets, weights); none for predictions, whose values do not count",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "-weights[c] * g' where c is the target, else 0; g' is the cotangent of the position, for mean "
        "divided by the sum "
        "of the weights that count. Ignored positions are 0 for every ignore_index."};

}  // namespace relish::ops_grad_nll_loss_backward
