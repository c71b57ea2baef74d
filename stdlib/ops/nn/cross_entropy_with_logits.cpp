// The sum of products of predictions and labels, which is a cross-entropy when predictions are logarithms.
#include "ir/printer/printer.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_nn_cross_entropy_with_logits {
namespace {

constexpr Param params[] = {{"predictions", ParamKind::Tensor, "tensor", "", "logarithms of probabilities"},
                            {"labels", ParamKind::Tensor, "tensor", "", "probabilities, of the same shape"}};

Type infer(const CallView& call) {
  require_float(call, 0);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  const BroadcastShape a = shape_of(call.tensor(0)), b = shape_of(call.tensor(1));
  for (std::size_t i = 0; i < 2; ++i) {
    if ((i == 0 ? a : b).rank == 0)
      call.reject("rank", call.span_of(i), fmt::format("{} has rank 0, expected at least 1", params[i].name));
  }
  bool different = a.rank >= 0 && b.rank >= 0 && a.rank != b.rank;
  for (std::size_t i = 0; !different && a.dims && b.dims && i < a.dims->size(); ++i)
    different = prove_different((*a.dims)[i], (*b.dims)[i]);
  if (different) {
    call.reject("shape", call.span_of(1),
                fmt::format("labels have type {} beside predictions of type {}, expected the same shape",
                            print(call.args[1].type()), print(call.args[0].type())));
  }
  return TensorType{dtype, Dims{}, 0};
}

Value evaluate(const EvalCall& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  if (a.shape() != b.shape()) {
    fail(ErrorClass::Runtime, c.call.span, "cross_entropy_with_logits.shape",
         fmt::format(
             "cross_entropy_with_logits: predictions have shape ({}) and labels ({}), expected the same",
             fmt::join(a.shape(), ", "), fmt::join(b.shape(), ", ")));
  }
  Tensor result = Tensor::empty(a.dtype(), {});
  visit_float(a.dtype(), [&](auto element) {
    using T = decltype(element);
    double total = 0;
    Pace pace;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i, pace())
      total += to_sum(a.template view<T>()[i]) * to_sum(b.template view<T>()[i]);
    const double rows = a.rank() > 1 ? static_cast<double>(a.shape()[0]) : 1.0;
    result.template mutable_view<T>()[0] = T(-total / rows);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  for (std::size_t i = 0; i < a.shape().size(); ++i)
    lowering.require_equal(a.shape()[i], b.shape()[i],
                           "cross_entropy_with_logits: predictions and labels must have the same shape");
  const DType wide = compute_dtype(a.dtype());
  const Buffer total = lowering.temporary("total", {}, wide);
  lowering.reduce("total", total, {}, a.shape(), [&](const Dims&, const Dims& r) {
    return lowering.load_as(wide, a, r) * lowering.load_as(wide, b, r);
  });
  const Scalar rows = a.rank() > 1 ? a.shape()[0] : Scalar(1);
  lowering.map("mean", result,
               [&](const Dims& i) { return negate(lowering.loops().load(total, i)) / cast(wide, rows); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  GraphValue share = -rule.cotangent();
  if (dims.size() > 1) share = share / reduction::count_like(share, dims[0]);
  share.leaf();
  return {(share * rule.argument(1)).expr(), (share * rule.argument(0)).expr()};
}

constexpr Sample samples[] = {
    {"[[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 0.5]]", "-1.5"},
    {"[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]", "-8.0"},
    {"rand((3, 4), \"float64\"), rand((3, 4), \"float64\")"},
    {"rand((2, 3, 4), \"float32\"), rand((2, 3, 4), \"float32\")"},
    {"rand((1, 5), \"float32\"), rand((1, 5), \"float32\")"},
    {"rand((2, 0), \"float32\"), rand((2, 0), \"float32\")"},
    {"rand((7,), \"float64\"), rand((7,), \"float64\")"},
};
constexpr Reject rejects[] = {
    {"cross_entropy_with_logits.shape", "rand((2, 3), \"float32\"), rand((2, 4), \"float32\")",
     "expected the same shape"},
    {"cross_entropy_with_logits.rank", "rand((), \"float32\"), rand((), \"float32\")",
     "predictions has rank 0"},
    {"cross_entropy_with_logits.dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")",
     "expected the same"},
};

}  // namespace

extern const Op op_nn_cross_entropy_with_logits{
    .name = "nn.cross_entropy_with_logits",
    .summary = "Minus the sum of predictions * labels, as a mean over the batch.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dpredictions = -g * labels / rows, dlabels = -g * predictions / rows",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "From rank 2 on the sum is divided by the first dimension. Despite its name the operator applies no "
        "softmax: give it the result of nn.log_softmax."};

}  // namespace relish::ops_nn_cross_entropy_with_logits
