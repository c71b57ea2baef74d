// Elements at given positions of one dimension, and the transpose of that.
#include "stdlib/families/shapes/movement.h"

#include "ir/calls/fault.h"
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "support/held_vector.h"

namespace relish::ops_take {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"indices", ParamKind::Tensor, "tensor of integers or scalar", "", "positions along axis; any rank"},
    {"axis", ParamKind::Attribute, "int or None", "None", "dimension of the positions; None is for 1-D x"},
    {"mode", ParamKind::Attribute, "str", "\"fast\"",
     "what a position out of range does: fast fails, clip takes the nearest, wrap counts around, nan gives "
     "NaN"}};
constexpr Param backward_params[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the result of take"},
    {"x", ParamKind::Tensor, "tensor", "", "gives the shape of the result"},
    {"indices", ParamKind::Tensor, "tensor of integers or scalar", "", "the positions of take"},
    {"axis", ParamKind::Attribute, "int or None", "None", "the axis of take"}};

// The axis in x of known rank.
int axis_of(const CallView& call, int rank) {
  if (!call.attribute("axis").is_none()) return normal_axis(call, call.int_attribute("axis"), rank);
  if (rank != 1)
    call.reject("axis", call.span, fmt::format("axis is None beside x of rank {}, expected 1", rank));
  return 0;
}

// A scalar counts as rank 0.
BroadcastShape indices_shape(const CallView& call, std::size_t i) {
  if (call.args[i].type().as<ScalarType>()) return {Dims{}, 0};
  return shape_of(call.tensor(i));
}

Tensor indices_value(const EvalCall& c, std::size_t i) {
  if (!c.args[i].is_scalar()) return c.in(i);
  return Tensor::scalar_int(c.args[i].scalar().dtype, c.args[i].scalar().integer);
}

// The positions in a loop nest: elements of a buffer, or one scalar.
class LoweredIndices {
 public:
  LoweredIndices(Lowering& lowering, std::size_t i) : lowering_(lowering) {
    const CallView& call = lowering.call();
    if (const auto* scalar = call.args[i].type().as<ScalarType>())
      scalar_ = lowering.loops().scalar_input(call.op.params[i].name, scalar->dtype);
    else
      buffer_ = lowering.input(i);
  }

  Dims shape() const { return buffer_.defined() ? buffer_.shape() : Dims{}; }
  Scalar at(const Dims& index) const { return wide_index(written_at(index)); }
  // The same in the dtype of the indices.
  Scalar written_at(const Dims& index) const {
    return buffer_.defined() ? lowering_.loops().load(buffer_, index) : use(scalar_);
  }
  void check(const Buffer& data, int axis) const {
    const auto along = static_cast<std::size_t>(axis);
    const Scalar extent = data.shape()[along];
    lowering_.loops().spatial("check", shape(), [&](const Dims& i) {
      const Scalar inside = logical(LogicalOp::And, Scalar(0) - extent <= at(i), at(i) < extent);
      const CallView& call = lowering_.call();
      return make_stmt(AssertStmt{inside, index_message(call, data.name(), along)}, call.span);
    });
  }

 private:
  Lowering& lowering_;
  Buffer buffer_;  // undefined for a scalar
  ScalarVar scalar_;
};

// --- take

// Of clip and wrap, which find a position for every index unless there is none.
std::string empty_message(const CallView& call, int axis) {
  return fmt::format("take: axis {} of x has length 0, so mode \"{}\" finds no position", axis,
                     call.string_attribute("mode"));
}

std::string mode_of(const CallView& call) {
  const std::string mode = call.string_attribute("mode");
  if (mode != "fast" && mode != "clip" && mode != "wrap" && mode != "nan")
    call.reject("mode", call.span, fmt::format("mode is \"{}\", expected fast, clip, wrap or nan", mode));
  return mode;
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  require_indices(call, 1);
  if (mode_of(call) == "nan" && x.dtype && !is_float(*x.dtype)) {
    call.reject(
        "mode", call.span,
        fmt::format("mode is \"nan\" beside x of dtype {}, expected a floating one", name_of(*x.dtype)));
  }
  const BroadcastShape shape = shape_of(x), indices = indices_shape(call, 1);
  if (shape.rank < 0) return TensorType{x.dtype, std::nullopt, -1};
  const int axis = axis_of(call, shape.rank);
  return tensor_of(replaced_dims(shape, axis, axis + 1, indices), x.dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Tensor indices = indices_value(c, 1);
  const int axis = axis_of(c.call, x.rank());
  const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
  const std::string mode = mode_of(c.call);
  if (mode == "fast") {
    check_indices(c.call, c.call.op.params[1].name, indices,
                  {c.call.op.params[0].name, static_cast<std::size_t>(axis), extent});
  }
  if (extent == 0 && indices.size() > 0 && (mode == "clip" || mode == "wrap"))
    fail_fault(Fault{FaultKind::AssertFailed, empty_message(c.call, axis)}, c.call.span);
  // The positions of all indices; -1 for one that gives NaN.
  std::vector<std::int64_t> positions;
  Pace pace;
  for (std::int64_t i = 0; i < indices.size(); ++i, pace()) {
    const std::int64_t index = index_at(indices, i);
    if (mode == "fast") {
      positions.push_back(from_start(index, extent));
    } else if (mode == "nan") {
      positions.push_back(index >= 0 && index < extent ? index : -1);
    } else {
      positions.push_back(mode == "clip" ? std::clamp<std::int64_t>(index, 0, extent - 1)
                                         : wrapped_index(indices, i, extent));
    }
  }
  const Shape shape = result_shape(c);
  Tensor result = Tensor::empty(x.dtype(), shape);
  std::int64_t to = 0;
  for_each_index(shape, [&](const Shape& index) {
    const auto first = index.begin() + axis, last = first + indices.rank();
    const std::int64_t position =
        positions[static_cast<std::size_t>(position_of(indices.shape(), Shape(first, last)))];
    if (position < 0) {
      result.set_double(to++, std::numeric_limits<double>::quiet_NaN());
      return;
    }
    Shape from(index.begin(), first);
    from.push_back(position);
    from.insert(from.end(), last, index.end());
    copy_element(result, to++, x, position_of(x.shape(), from));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const LoweredIndices indices(lowering, 1);
  const Buffer result = lowering.output();
  const int axis = axis_of(c.call, x.rank());
  const Scalar extent = x.shape()[static_cast<std::size_t>(axis)];
  const std::string mode = mode_of(c.call);
  if (mode == "fast") {
    indices.check(x, axis);
  } else if (mode != "nan" && extent.as_int().value_or(0) == 0) {
    lowering.require(logical(LogicalOp::Or, extent > Scalar(0), equal(product(indices.shape()), 0)),
                     empty_message(c.call, axis));
  }
  const auto rank = static_cast<std::ptrdiff_t>(indices.shape().size());
  lowering.map("take", result, [&](const Dims& i) -> Scalar {
    const Dims place(i.begin() + axis, i.begin() + axis + rank);
    const Scalar index = indices.at(place);
    Scalar at;
    if (mode == "fast")
      at = checked_place(index, extent);
    else if (mode == "wrap")
      at = wrapped_index(indices.written_at(place), extent);
    else if (mode == "clip")
      at = max(min(index, extent - Scalar(1)), Scalar(0));
    else
      at = index;
    Dims from(i.begin(), i.begin() + axis);
    from.push_back(at);
    from.insert(from.end(), i.begin() + axis + rank, i.end());
    Scalar element = lowering.loops().load(x, from);
    if (mode != "nan") return element;
    const Scalar inside = logical(LogicalOp::And, Scalar(0) <= index, index < extent);
    return if_then_else(inside, element, float_literal(x.dtype(), std::numeric_limits<double>::quiet_NaN()));
  });
  return lowering.finish();
}

// The indices in a dtype that holds the length of their axis: those of an axis of 200 may be of eight bits.
GraphValue holding_length(const GraphValue& indices, const Scalar& extent) {
  const DType dtype = indices.type().dtype.value_or(DType::Int64);
  const auto known = extent.as_int();
  if (size_of(dtype) == size_of(DType::Int64) || (known && *known <= max_value(dtype).as_int().value_or(0)))
    return indices;
  return call_op("astype", {indices}, {{"dtype", DType::Int64}});
}

// The positions that the mode really takes, as indices of mode fast.
GraphValue effective_indices(const GradientRule& rule, const GraphValue& indices, const Scalar& extent,
                             std::string_view mode) {
  FunctionBuilder& builder = indices.builder();
  const DType dtype = indices.type().dtype.value_or(DType::Int64);
  const auto number = [&](const Scalar& value) {
    if (const auto literal = value.as_int())
      return rule.value(constant(Tensor::scalar_int(dtype, *literal), builder.origin()));
    return rule.value(scalar_value(cast(dtype, value), builder.origin()));
  };
  const GraphValue length = number(extent), zero = number(0);
  if (mode == "wrap") return indices - indices / length * length;  // the quotient truncates
  if (mode == "clip")
    return call_op("maximum", {call_op("minimum", {indices, number(canonical(extent - Scalar(1)))}), zero});
  const GraphValue below = call_op("less", {indices, zero});
  const GraphValue beyond = call_op("greater_equal", {indices, length});
  return where(beyond, zero, where(below, zero, indices));
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const std::string mode = mode_of(c.call);
  GraphValue indices = rule.argument(1), g = rule.cotangent();
  const Dims dims = rule.dims(0);
  const int axis = axis_of(c.call, static_cast<int>(dims.size()));
  if (mode != "fast") {
    if (c.call.args[1].type().as<ScalarType>())
      c.call.reject("gradient", c.call.span_of(1),
                    fmt::format("mode \"{}\" has no gradient for an index that is a scalar", mode));
    const Scalar& extent = dims[static_cast<std::size_t>(axis)];
    indices = holding_length(indices, extent);
    if (mode == "nan") {
      // No gradient flows from what is NaN.
      const int rank = shape_of(c.call.tensor(1)).rank;
      if (rank < 0) c.call.reject("gradient", c.call.span_of(1), "the gradient needs the rank of indices");
      GraphValue kept = call_op("equal", {effective_indices(rule, indices, extent, mode), indices});
      std::vector<int> behind;
      for (int i = axis + 1; i < static_cast<int>(dims.size()); ++i) behind.push_back(i - axis - 1 + rank);
      if (!behind.empty()) kept = call_op("expand_dims", {kept}, {{"axis", axes_attribute(behind)}});
      g = where(kept, g, constant_like(g, 0));
    }
    indices = effective_indices(rule, indices, extent, mode);
  }
  return {call_op("grad.take_backward", {g, rule.argument(0), indices}, {{"axis", c.call.attribute("axis")}})
              .expr(),
          std::nullopt};
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0], R.const([2, 0, 2], \"int64\")", "[3.0, 1.0, 3.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], R.const([-1], \"int32\"), axis=1", "[[2.0], [4.0]]"},
    {"rand((3, 4), \"float64\"), R.const([[0, 2], [1, 1]], \"int64\"), axis=0"},
    {"rand((2, 3, 2), \"float64\"), R.const(1, \"int64\"), axis=-2"},
    {"rand((4, 2), \"float64\"), R.const([5, -7, 2], \"int64\"), axis=0, mode=\"clip\""},
    {"rand((4, 2), \"float64\"), R.const([5, -7, 2], \"int32\"), axis=0, mode=\"wrap\""},
    {"[1.0, 2.0, 3.0], R.const([2, 3, -1, 0], \"int64\"), mode=\"nan\"", "", false},
    {"rand((2, 3), \"float64\"), R.const([[1, 0]], \"int64\"), axis=1, mode=\"nan\""},
    {"rand((2, 3), \"float64\"), 1, axis=1"},
    {"rand((0, 3), \"float32\"), R.const([1, 1], \"int64\"), axis=1"},
    {"R.const([[1, 2], [3, 4]], \"int8\"), R.const([1], \"uint8\"), axis=0", "[[3, 4]]"},
};
constexpr Reject rejects[] = {
    {"take.axis", "rand((2, 3), \"float32\"), R.const([0], \"int64\"), axis=2", "out of range"},
    {"take.axis", "rand((2, 3), \"float32\"), R.const([0], \"int64\")", "expected 1"},
    {"take.indices", "rand((2,), \"float32\"), [0.0]", "expected integers"},
    {"take.mode", "rand((2,), \"float32\"), R.const([0], \"int64\"), mode=\"raise\"", "expected fast"},
    {"take.mode", "R.const([1], \"int32\"), R.const([0], \"int64\"), mode=\"nan\"", "a floating one"},
};

// --- grad.take_backward

Type infer_backward(const CallView& call) {
  require_float(call, 0);
  require_same_dtype(call, 0, 1);
  require_indices(call, 2);
  const TensorType& x = call.tensor(1);
  const BroadcastShape shape = shape_of(x), g = shape_of(call.tensor(0));
  if (shape.rank < 0) return x;
  const int axis = axis_of(call, shape.rank);
  const BroadcastShape want = replaced_dims(shape, axis, axis + 1, indices_shape(call, 2));
  if (want.rank >= 0 && g.rank >= 0 && want.rank != g.rank) {
    call.reject("rank", call.span_of(0),
                fmt::format("output_grad has rank {}, the result of take {}", g.rank, want.rank));
  }
  if (!want.dims || !g.dims) return x;
  for (std::size_t d = 0; d < want.dims->size(); ++d) {
    if (!prove_different((*want.dims)[d], (*g.dims)[d])) continue;
    call.reject("shape", call.span_of(0),
                fmt::format("dimension {} of output_grad is {}, that of the result of take {}", d,
                            print((*g.dims)[d]), print((*want.dims)[d])));
  }
  return x;
}

Value evaluate_backward(const EvalCall& c) {
  const Tensor& g = c.in(0);
  const Shape& shape = c.in(1).shape();
  const Tensor indices = indices_value(c, 2);
  const int axis = axis_of(c.call, c.in(1).rank());
  const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
  check_indices(c.call, c.call.op.params[2].name, indices,
                {c.call.op.params[1].name, static_cast<std::size_t>(axis), extent});
  Tensor result = Tensor::empty(g.dtype(), shape);
  visit_float(g.dtype(), [&](auto element) {
    using T = decltype(element);
    HeldVector<double> totals(result.size(), "the sums of a gradient");
    const T* source = g.view<T>().data();
    for_each_index(g.shape(), [&](const Shape& index) {
      const auto first = index.begin() + axis, last = first + indices.rank();
      Shape to(index.begin(), first);
      to.push_back(from_start(index_at(indices, position_of(indices.shape(), Shape(first, last))), extent));
      to.insert(to.end(), last, index.end());
      totals[static_cast<std::size_t>(position_of(shape, to))] += to_sum(*source++);
    });
    T* target = result.mutable_view<T>().data();
    for (double total : totals) *target++ = T(total);
  });
  return result;
}

// For each line of elements at the same place around the axis: zeros, then one addition after the other, in
// the order of the positions.
PrimFunc lower_backward(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer g = lowering.input(0), x = lowering.input(1);
  const LoweredIndices indices(lowering, 2);
  const Buffer result = lowering.output();
  const int axis = axis_of(c.call, x.rank());
  const Scalar extent = x.shape()[static_cast<std::size_t>(axis)];
  const Dims places = indices.shape();
  const Dims around = without_dim(x.shape(), axis);
  for (std::size_t d = 0; d < g.shape().size(); ++d) {
    const auto begin = static_cast<std::size_t>(axis);
    const Scalar want = d < begin                   ? around[d]
                        : d < begin + places.size() ? places[d - begin]
                                                    : around[d - places.size()];
    lowering.require_equal(g.shape()[d], want,
                           fmt::format("take_backward: dimension {} of output_grad does not fit", d));
  }
  indices.check(x, axis);
  const DType wide = compute_dtype(result.dtype());
  const Buffer total = wide == result.dtype() ? result : lowering.temporary("total", x.shape(), wide);
  lowering.map("zeros", total, [&](const Dims&) { return zero(wide); });
  lowering.loops().spatial("scatter", around, [&](const Dims& place) {
    return repeat_index("k", places, c.call.span, [&](const Dims& k) {
      Dims from(place.begin(), place.begin() + axis), to = from;
      from.insert(from.end(), k.begin(), k.end());
      from.insert(from.end(), place.begin() + axis, place.end());
      to.push_back(from_start(indices.at(k), extent));
      to.insert(to.end(), place.begin() + axis, place.end());
      return lowering.loops().store(total, to,
                                    lowering.loops().load(total, to) + lowering.load_as(wide, g, from));
    });
  });
  if (!(total == result))
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  return lowering.finish();
}

Partials vjp_backward(const VjpCall& c) {
  const GradientRule rule(c);
  const Attributes along{{"axis", c.call.attribute("axis")}};
  return {call_op("take", {rule.cotangent(), rule.argument(2)}, along).expr(), std::nullopt, std::nullopt};
}

constexpr Sample backward_samples[] = {
    {"[1.0, 2.0, 4.0], [0.0, 0.0, 0.0], R.const([2, 0, 2], \"int64\")", "[2.0, 0.0, 5.0]"},
    {"[[1.0], [2.0]], [[0.0, 0.0], [0.0, 0.0]], R.const([-1], \"int32\"), axis=1",
     "[[0.0, 1.0], [0.0, 2.0]]"},
    {"rand((2, 2, 4), \"float64\"), rand((3, 4), \"float64\"), R.const([[0, 2], [1, 1]], \"int64\"), axis=0"},
    {"rand((2, 2), \"float64\"), rand((2, 3, 2), \"float64\"), R.const(1, \"int64\"), axis=-2"},
    {"rand((2,), \"float64\"), rand((2, 3), \"float64\"), 1, axis=1"},
    {"rand((0, 2), \"float32\"), rand((0, 3), \"float32\"), R.const([1, 1], \"int64\"), axis=1"},
};
constexpr Reject backward_rejects[] = {
    {"take_backward.axis", "rand((1,), \"float32\"), rand((2, 3), \"float32\"), R.const([0], \"int64\")",
     "expected 1"},
    {"take_backward.rank", "rand((1, 1), \"float32\"), rand((2,), \"float32\"), R.const([0], \"int64\")",
     "has rank 2"},
    {"take_backward.shape", "rand((2,), \"float32\"), rand((2,), \"float32\"), R.const([0], \"int64\")",
     "is 2"},
    {"take_backward.dtype", "rand((1,), \"float32\"), rand((2,), \"float64\"), R.const([0], \"int64\")",
     "expected the same"},
    {"take_backward.indices", "rand((1,), \"float32\"), rand((2,), \"float32\"), [0.0]", "expected integers"},
};

}  // namespace

extern const Op op_take{
    .name = "take",
    .summary = "Elements at given positions of one dimension.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = take_backward(g, x, indices, axis): g added at the positions it was taken from",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "The dimensions of indices stand in the place of axis; a rank of 0 drops it. In mode fast a negative "
        "index counts from the end and one out of range is a RuntimeError (TVM reads beyond the tensor). "
        "Modes "
        "clip and nan do not count from the end: clip gives the first element for a negative index, nan "
        "NaN."};

extern const Op op_grad_take_backward{
    .name = "grad.take_backward",
    .summary = "The gradient of take: adds output_grad at the positions it was taken from.",
    .params = backward_params,
    .infer = infer_backward,
    .eval = evaluate_backward,
    .lower = lower_backward,
    .vjp = vjp_backward,
    .gradient_doc = "doutput_grad = take(g, indices, axis)",
    .agreement = Agreement::Sum,
    .samples = backward_samples,
    .rejects = backward_rejects,
    .doc =
        "Linear in output_grad; x gives its shape only. indices may have any rank (TVM lowers rank 1 only)."};

}  // namespace relish::ops_take
