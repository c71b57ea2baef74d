// Negative log-likelihood: the operator, defined by a body in our own text, and what it shares with its
// gradient.
#include "stdlib/ops/nn/nll_loss.h"

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::nll_loss {
namespace {

constexpr int max_rank = 4;

int rank_of(const CallView& call, std::size_t i) { return shape_of(call.tensor(i)).rank; }

// Rejects two dims that provably differ, by "shape".
void require_same_dim(const CallView& call, std::size_t i, const Scalar& a, std::string_view what,
                      const Scalar& b) {
  if (!prove_different(a, b)) return;
  call.reject("shape", call.span_of(i),
              fmt::format("{} has {} where predictions have {} {}", call.op.params[i].name, print(b),
                          print(a), what));
}

// The targets that count: visit(position, element of the predictions, weight). Positions are those of the
// targets.
template <class Visit>
void for_each_target(const EvalCall& c, const Operands& operands, Visit&& visit) {
  const Tensor& targets = c.in(operands.targets());
  const Shape& shape = c.in(operands.predictions()).shape();
  const std::size_t class_axis = shape.size() == 1 ? 0 : 1;
  const std::int64_t classes = shape[class_axis];
  std::int64_t inner = 1;
  for (std::size_t d = class_axis + 1; d < shape.size(); ++d) inner *= shape[d];
  const std::int64_t ignored = c.call.int_attribute("ignore_index");
  Pace pace;
  for (std::int64_t position = 0; position < targets.size(); ++position, pace()) {
    const std::int64_t target = index_at(targets, position);
    if (target == ignored) continue;
    if (target < 0 || target >= classes) {
      fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.target", short_name_of(c.call.op)),
           fmt::format("{}: target {}{} is neither ignore_index, {}, nor a class: axis {} of predictions has "
                       "length {}",
                       c.call.op.name, index_text(targets, position),
                       at_place("targets", targets.shape(), position), ignored, class_axis, classes));
    }
    const std::int64_t element = (position / inner * classes + target) * inner + position % inner;
    visit(position, element, operands.weighted(c.call) ? c.in(operands.weights()).get_double(target) : 1.0);
  }
}

}  // namespace

Value evaluate(const EvalCall& c, const Operands& operands) {
  const Tensor& predictions = c.in(operands.predictions());
  const std::string reduction = c.call.string_attribute("reduction");
  const bool none = reduction == "none";
  Tensor losses = Tensor::zeros(predictions.dtype(), none ? c.in(operands.targets()).shape() : Shape{});
  double total = 0, weights = 0;
  for_each_target(c, operands, [&](std::int64_t position, std::int64_t element, double weight) {
    const double loss = -predictions.get_double(element) * weight;
    if (none) losses.set_double(position, loss);
    total += loss;
    weights += weight;
  });
  if (!none) losses.set_double(0, reduction == "sum" ? total : total / weights);
  return losses;
}

Value evaluate_backward(const EvalCall& c, const Operands& operands, const Tensor& output_grad) {
  const Tensor& predictions = c.in(operands.predictions());
  const std::string reduction = c.call.string_attribute("reduction");
  double weights = 1;
  if (reduction == "mean") {
    weights = 0;
    for_each_target(c, operands, [&](std::int64_t, std::int64_t, double weight) { weights += weight; });
  }
  Tensor result = Tensor::zeros(predictions.dtype(), predictions.shape());
  for_each_target(c, operands, [&](std::int64_t position, std::int64_t element, double weight) {
    const double slope = output_grad.get_double(reduction == "none" ? position : 0) / weights;
    result.set_double(element, -weight * slope);
  });
  return result;
}

void check(const CallView& call, const Operands& operands) {
  require_float(call, operands.predictions());
  const std::optional<DType> target_dtype = call.tensor(operands.targets()).dtype;
  if (target_dtype && !is_int(*target_dtype)) {
    call.reject("targets", call.span_of(operands.targets()),
                fmt::format("targets have dtype {}, expected integers", name_of(*target_dtype)));
  }
  const std::string reduction = call.string_attribute("reduction");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    call.reject("reduction", call.span,
                fmt::format("reduction is \"{}\", expected mean, sum or none", reduction));
  }
  const BroadcastShape predictions = shape_of(call.tensor(operands.predictions()));
  const BroadcastShape targets = shape_of(call.tensor(operands.targets()));
  if (predictions.rank == 0 || predictions.rank > max_rank) {
    call.reject("rank", call.span_of(operands.predictions()),
                fmt::format("predictions have rank {}, expected 1 to {}", predictions.rank, max_rank));
  }
  if (predictions.rank > 0 && targets.rank >= 0 && targets.rank != predictions.rank - 1) {
    call.reject("rank", call.span_of(operands.targets()),
                fmt::format("targets have rank {} beside predictions of rank {}, expected {}", targets.rank,
                            predictions.rank, predictions.rank - 1));
  }
  const std::size_t class_axis = predictions.rank == 1 ? 0 : 1;
  if (predictions.dims && targets.dims) {
    for (std::size_t i = 0; i < targets.dims->size(); ++i) {
      require_same_dim(call, operands.targets(), (*predictions.dims)[i < class_axis ? i : i + 1],
                       i == 0 ? "rows" : "positions", (*targets.dims)[i]);
    }
  }
  if (!operands.weighted(call)) return;
  common_dtype(call, operands.predictions(), operands.weights());
  const BroadcastShape weights = shape_of(call.tensor(operands.weights()));
  if (weights.rank >= 0 && weights.rank != 1) {
    call.reject("weights", call.span_of(operands.weights()),
                fmt::format("weights have rank {}, expected 1", weights.rank));
  }
  if (predictions.dims && weights.dims) {
    require_same_dim(call, operands.weights(), (*predictions.dims)[class_axis], "classes",
                     weights.dims->front());
  }
}

BroadcastShape loss_shape(const CallView& call, const Operands& operands) {
  if (call.string_attribute("reduction") != "none") return {Dims{}, 0};
  BroadcastShape targets = shape_of(call.tensor(operands.targets()));
  if (targets.rank < 0) {
    const int rank = rank_of(call, operands.predictions());
    if (rank > 0) targets.rank = rank - 1;
  }
  return targets;
}

std::string body_function(const CallView& call, const Operands& operands, std::string_view prefix) {
  int rank = rank_of(call, operands.predictions());
  if (rank < 0 && rank_of(call, operands.targets()) >= 0) rank = rank_of(call, operands.targets()) + 1;
  if (rank < 0)
    call.reject("rank", call.span_of(operands.predictions()), "the rank of the predictions must be known");
  return fmt::format("{}_{}d{}_{}", prefix, rank, operands.weighted(call) ? "_weighted" : "",
                     call.string_attribute("reduction"));
}

Attributes attributes_of(const CallView& call) {
  return {{"reduction", call.attribute("reduction")}, {"ignore_index", call.attribute("ignore_index")}};
}

// With m[n, c] = -1 where c is the target of row n (and kept) else 0, which is the gradient of an unweighted
// loss: loss_n = sum over c of p * m * w. So d loss / d w = p * m summed over all but the classes; for "mean"
// = S / W with W = -sum of m * w, also -loss * d W, all over W.
GraphValue weights_partial(const GradientRule& rule, const GraphValue& g, const GraphValue& predictions,
                           const GraphValue& targets, const GraphValue& weights, const GraphValue& loss) {
  const CallView& call = rule.call();
  const std::string reduction = call.string_attribute("reduction");
  const TensorType& type = predictions.type();
  const int rank = shape_of(type).rank;
  const std::optional<Dims> dims = known_dims(type);
  if (!dims || !type.dtype) {
    call.reject("gradient", call.span,
                fmt::format("the gradient for the weights needs the shape and dtype of the "
                            "predictions, which have type {}",
                            print(predictions.expr().type())));
  }
  const std::size_t class_axis = rank == 1 ? 0 : 1;
  std::vector<int> others;
  Dims position_dims;
  for (int i = 0; i < rank; ++i) {
    if (static_cast<std::size_t>(i) == class_axis) continue;
    others.push_back(i);
    position_dims.push_back((*dims)[static_cast<std::size_t>(i)]);
  }
  const auto per_class = [&](const GraphValue& x) {
    if (others.empty()) return x;
    return call_op("sum", {x}, {{"axis", axes_attribute(others)}, {"keepdims", false}});
  };
  const auto marks = [&](const GraphValue& scale) {
    return call_op("grad.nll_loss_backward", {scale, predictions, targets},
                   {{"reduction", "none"}, {"ignore_index", call.attribute("ignore_index")}});
  };
  if (reduction == "none") return per_class(predictions * marks(g));
  const GraphValue ones =
      call_op("ones", {shape_value(position_dims, weights.builder())}, {{"dtype", *type.dtype}});
  const GraphValue m = marks(ones);
  m.leaf();
  const GraphValue slope = per_class(predictions * m);
  if (reduction == "sum") return slope * g;
  const GraphValue count = -per_class(m);
  count.leaf();
  const GraphValue total = call_op("sum", {count * weights}, {{"axis", Attribute()}, {"keepdims", false}});
  const GraphValue moved = count * loss;
  return (slope - moved) / total * g;
}

}  // namespace relish::nll_loss

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

std::string function_name(const CallView& call) {
  return nll_loss::body_function(call, operands, "nll_loss");
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
    .vjp = vjp,
    .gradient_doc =
        "dpredictions = grad.nll_loss_backward(g, predictions, targets, weights); dweights by the same marks "
        "of "
        "the chosen classes",
    .body = "ops/nn/nll_loss.relish",
    .body_function = function_name,
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
