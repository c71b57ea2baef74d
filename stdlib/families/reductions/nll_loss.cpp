// Rules, evaluation, loop nests and the partial for the weights of the negative log-likelihood.
#include "stdlib/families/reductions/nll_loss.h"

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
  call.reject(
      "shape", call.span_of(i),
      fmt::format("{} has {} where predictions have {} {}", call.op.params[i].name, print(b), print(a),
                  what == "positions" ? "positions behind the classes, which stand on axis 1" : what));
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

// The operands of a loop nest. What is ignored is never loaded, and what is not chosen is replaced, not
// multiplied by 0, so that infinite predictions of other classes do no harm.
struct Nest {
  Lowering& lowering;
  const Buffer predictions, targets;
  const bool weighted;
  const std::optional<Buffer> weights;
  const DType wide;
  const Scalar ignored;
  const std::size_t class_axis;

  // Appends the parameters, and demands of their dimensions what the types leave open.
  Nest(Lowering& nest, const Operands& operands)
      : lowering(nest),
        predictions(nest.input(operands.predictions())),
        targets(nest.input(operands.targets())),
        weighted(operands.weighted(nest.call())),
        weights(weighted ? std::optional(nest.input(operands.weights())) : std::nullopt),
        wide(compute_dtype(predictions.dtype())),
        ignored(nest.call().int_attribute("ignore_index")),
        class_axis(predictions.rank() == 1 ? 0 : 1) {
    const std::string_view name = nest.call().op.name;
    for (std::size_t d = 0; d < targets.shape().size(); ++d) {
      const std::size_t in_predictions = d < class_axis ? d : d + 1;
      nest.require_equal(targets.shape()[d], predictions.shape()[in_predictions],
                         fmt::format("{}: dimension {} of targets must be dimension {} of predictions", name,
                                     d, in_predictions));
    }
    if (!weights) return;
    nest.require_equal(weights->shape()[0], predictions.shape()[class_axis],
                       fmt::format("{}: weights must have one element for each class", name));
  }

  Scalar target(const Dims& position) const { return wide_index(lowering.loops().load(targets, position)); }

  // The index into the predictions of a class at a position.
  Dims element(const Dims& position, const Scalar& target) const {
    Dims index = position;
    index.insert(index.begin() + static_cast<std::ptrdiff_t>(class_axis), target);
    return index;
  }

  Scalar unless_ignored(const Dims& position, const Scalar& value) const {
    return if_then_else(equal(target(position), ignored), zero(wide), value);
  }

  void check_targets() const {
    const CallView& call = lowering.call();
    const Scalar classes = predictions.shape()[class_axis];
    const std::string message =
        fmt::format("a target of {} is neither the index of a class nor ignore_index", call.op.name);
    lowering.loops().spatial("check", targets.shape(), [&](const Dims& position) {
      const Scalar at = target(position);
      const Scalar is_class = logical(LogicalOp::And, Scalar(0) <= at, at < classes);
      const Scalar allowed = logical(LogicalOp::Or, equal(at, ignored), is_class);
      return make_stmt(AssertStmt{allowed, message}, call.span);
    });
  }

  // The sum of term(position) over all positions. The terms, which are looked up, stand in a buffer of their
  // own first: what is left is a sum along memory, in the order and as exact as every other.
  template <class Term>
  Buffer sum(std::string_view terms_name, std::string_view total_name, Term&& term) const {
    const Buffer terms = lowering.temporary(terms_name, targets.shape(), wide);
    lowering.map(terms_name, terms, term);
    const Buffer total = lowering.temporary(total_name, {}, wide);
    lowering.reduce(total_name, total, {}, targets.shape(), [&](const Dims&, const Dims& position) {
      return lowering.loops().load(terms, position);
    });
    return total;
  }

  // The weights of the targets that count; without weights, how many these are.
  Buffer sum_of_weights() const {
    return sum("weighing", "counted", [&](const Dims& position) {
      if (!weights) return select(equal(target(position), ignored), zero(wide), float_literal(wide, 1));
      return unless_ignored(position, lowering.load_as(wide, *weights, {target(position)}));
    });
  }
};

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

PrimFunc lower(const LowerCall& c, const Operands& operands) {
  Lowering lowering(c);
  const Nest nest(lowering, operands);
  const Buffer result = lowering.output();
  nest.check_targets();
  const auto loss = [&](const Dims& position) {
    const Scalar target = nest.target(position);
    Scalar value = lowering.load_as(nest.wide, nest.predictions, nest.element(position, target));
    if (nest.weighted) value = value * lowering.load_as(nest.wide, *nest.weights, {target});
    return nest.unless_ignored(position, negate(value));
  };
  const std::string reduction = c.call.string_attribute("reduction");
  if (reduction == "none") {
    lowering.map("loss", result, loss);
    return lowering.finish();
  }
  const Buffer total = nest.sum("losses", "total", loss);
  if (reduction == "sum") {
    lowering.map("sum", result, [&](const Dims&) { return lowering.loops().load(total, {}); });
  } else {
    const Buffer counted = nest.sum_of_weights();
    lowering.map("mean", result, [&](const Dims&) {
      return lowering.loops().load(total, {}) / lowering.loops().load(counted, {});
    });
  }
  return lowering.finish();
}

PrimFunc lower_backward(const LowerCall& c, const Operands& operands) {
  Lowering lowering(c);
  const Buffer output_grad = lowering.input(0);
  const Nest nest(lowering, operands);
  const Buffer result = lowering.output();
  for (std::size_t d = 0; d < output_grad.shape().size(); ++d) {
    lowering.require_equal(
        output_grad.shape()[d], nest.targets.shape()[d],
        fmt::format("{}: dimension {} of output_grad must be that of targets", c.call.op.name, d));
  }
  nest.check_targets();
  const std::string reduction = c.call.string_attribute("reduction");
  // The slope of all targets is a number by itself: what is left of each element is a comparison and a
  // choice, which those that read it do for themselves.
  std::optional<Buffer> number;
  if (reduction != "none") {
    std::optional<Buffer> counted;
    if (reduction == "mean") counted = nest.sum_of_weights();
    number = lowering.temporary("each", {}, nest.wide);
    lowering.map("each", *number, [&](const Dims&) {
      const Scalar slope = lowering.load_as(nest.wide, output_grad, {});
      return negate(counted ? slope / lowering.loops().load(*counted, {}) : slope);
    });
  }
  lowering.map("slope", result, [&](const Dims& index) {
    const Scalar& each = index[nest.class_axis];
    const Dims position = without_dim(index, static_cast<int>(nest.class_axis));
    Scalar slope = number ? lowering.loops().load(*number, {})
                          : negate(lowering.load_as(nest.wide, output_grad, position));
    if (nest.weighted) slope = lowering.load_as(nest.wide, *nest.weights, {each}) * slope;
    const Scalar target = nest.target(position);
    Scalar chosen = equal(target, each);
    // No class is a number below 0.
    if (nest.ignored.as_int().value_or(0) >= 0)
      chosen = logical(LogicalOp::And, chosen, compare(CompareOp::Ne, target, nest.ignored));
    return select(chosen, slope, zero(nest.wide));
  });
  return lowering.finish();
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
