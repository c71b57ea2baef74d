// Axes and shapes of reductions.
#include "stdlib/families/reductions/reduction.h"

namespace relish::reduction {

bool keepdims(const CallView& call) {
  const Attribute& attribute = call.attribute("keepdims");
  if (const bool* flag = attribute.as<bool>()) return *flag;
  if (const auto* number = attribute.as<std::int64_t>()) return *number != 0;
  call.reject("keepdims", call.span, "keepdims must be a bool");
}

Type infer(const CallView& call) {
  require_number(call, 0);
  return infer_of_all(call);
}

Type infer_of_floats(const CallView& call) {
  require_float(call, 0);
  return infer_of_all(call);
}

Type infer_of_all(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const bool keep = keepdims(call);
  const BroadcastShape shape = shape_of(x);
  if (shape.rank < 0) {
    const bool all = call.attribute("axis").is_none() && !keep;
    return all ? TensorType{x.dtype, Dims{}, 0} : TensorType{x.dtype, std::nullopt, -1};
  }
  const std::vector<int> axes = axes_of(call, "axis", shape.rank);
  if (!shape.dims) {
    const int rank = keep ? shape.rank : shape.rank - static_cast<int>(axes.size());
    return rank == 0 ? TensorType{x.dtype, Dims{}, 0} : TensorType{x.dtype, std::nullopt, rank};
  }
  Dims dims;
  for (int i = 0; i < shape.rank; ++i) {
    if (!contains(axes, i))
      dims.push_back((*shape.dims)[i]);
    else if (keep)
      dims.push_back(1);
  }
  const int rank = static_cast<int>(dims.size());
  return TensorType{x.dtype, std::move(dims), rank};
}

Shape result_shape(const Shape& input, const std::vector<int>& axes, bool keepdims) {
  Shape shape;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (!contains(axes, static_cast<int>(i)))
      shape.push_back(input[i]);
    else if (keepdims)
      shape.push_back(1);
  }
  return shape;
}

Tensor empty_result(const EvalCall& c, const std::vector<int>& axes) {
  const Tensor& x = c.in(0);
  return Tensor::empty(x.dtype(), result_shape(x.shape(), axes, keepdims(c.call)));
}

Shape result_strides(const Shape& input, const std::vector<int>& axes) {
  Shape strides(input.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = input.size(); i-- > 0;) {
    if (contains(axes, static_cast<int>(i))) continue;
    strides[i] = stride;
    stride *= input[i];
  }
  return strides;
}

ReducedLoops::ReducedLoops(const Dims& input, std::vector<int> reduced, bool keepdims)
    : axes(std::move(reduced)), kept(keepdims) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (contains(axes, static_cast<int>(i))) {
      reduce.push_back(input[i]);
      if (kept) spatial.push_back(1);
    } else {
      spatial.push_back(input[i]);
    }
  }
}

Dims ReducedLoops::input_index(const Dims& s, const Dims& r) const {
  const std::size_t rank = kept ? s.size() : s.size() + r.size();
  Dims index;
  std::size_t next_spatial = 0, next_reduce = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool reduced = contains(axes, static_cast<int>(i));
    index.push_back(reduced ? r[next_reduce++] : s[next_spatial]);
    if (!reduced || kept) ++next_spatial;
  }
  return index;
}

ReducedLoops loops_of(const LowerCall& c, const Buffer& x) {
  return {x.shape(), axes_of(c.call, "axis", x.rank()), keepdims(c.call)};
}

Scalar count_of(const Dims& input, const std::vector<int>& axes) {
  Dims reduced;
  for (int axis : axes) reduced.push_back(input[static_cast<std::size_t>(axis)]);
  return product(reduced);
}

GraphValue count_like(const GraphValue& like, const Scalar& count) {
  if (count.as_int()) return constant_like(like, static_cast<double>(*count.as_int()));
  // A symbolic count is a scalar operand: its value is known when the gradient runs.
  const DType dtype = like.type().dtype.value_or(DType::Float32);
  return GraphValue(scalar_value(cast(dtype, count), like.builder().origin()), like.builder());
}

GraphValue with_reduced_axes(const GradientRule& rule, const GraphValue& cotangent) {
  const Dims dims = rule.dims(0);
  const std::vector<int> axes = axes_of(rule.call(), "axis", static_cast<int>(dims.size()));
  if (keepdims(rule.call()) || axes.size() == dims.size() || axes.empty()) return cotangent;
  return call_op("expand_dims", {cotangent}, {{"axis", axes_attribute(axes)}});
}

}  // namespace relish::reduction
