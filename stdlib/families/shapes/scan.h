// The family of scans: along one axis, or over all elements in row-major order, every result is made of the
// elements up to its place (inclusive) or before it (exclusive).
#pragma once

#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"
#include "stdlib/families/reductions/reduction.h"
#include "stdlib/families/shapes/lines.h"

namespace relish {

inline constexpr Param scan_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int or None", "None", "axis to go along; None flattens the input"},
    {"dtype", ParamKind::Attribute, "dtype or None", "None",
     "dtype of the result, to which elements are converted first; None: the input's"},
    {"exclusive", ParamKind::Attribute, "bool", "False", "leave out the element at the place itself"}};

namespace scan {

bool exclusive(const CallView& call);
Type infer(const CallView& call);
// The length of the axis.
std::int64_t length(const CallView& call, const Type& result);
// `start` combined with the elements by `combine`, one after the other in the dtype of the result.
PrimFunc lower(const LowerCall& c, double start,
               const std::function<Scalar(const Scalar& state, const Scalar& element)>& combine);
// The axis, and the input and the cotangent as seen along it: flattened when the axis is None.
struct Axis {
  int axis;
  GraphValue data, cotangent;
};
Axis axis_of(const GradientRule& rule);
// A partial for `Axis::data` in the shape and the dtype of the input.
Expr partial(const GradientRule& rule, const GraphValue& along);

// s[i] = terms[i] + coefficients[i + 1] * s[i + 1] along the axis: the adjoint of s[i] = terms[i] +
// coefficients[i] * s[i - 1], which is what scans are made of.
GraphValue backward_recurrence(const GraphValue& coefficients, const GraphValue& terms, int axis);
// x moved by `offset` places along the axis, with zeros moved in.
GraphValue shifted(const GraphValue& x, int axis, int offset);

template <class Combine>
Value evaluate(const EvalCall& c, double start, Combine combine) {
  const TensorType& type = *c.result_type.tensor();
  Tensor data = convert_tensor(c.in(0), *type.dtype);
  const bool flat = c.call.attribute("axis").is_none();
  if (flat) data = data.reshaped({data.size()});
  const int axis = flat ? 0 : normal_axis(c.call, c.call.int_attribute("axis"), data.rank());
  const bool before = exclusive(c.call);
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  visit_dtype(data.dtype(), [&](auto element) {
    using T = decltype(element);
    // Every partial result is one of the answer: what overflows float64 on the way stays infinite.
    using State = std::conditional_t<std::same_as<T, double>, double, Sum<T>>;
    const T* source = data.view<T>().data();
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for_each_line(data.shape(), axis, [&](const Line& line) {
      State state{};
      if constexpr (StorageFloat<T>)
        state = start;
      else
        state = State(static_cast<decltype(state.value)>(start));
      for (std::int64_t i = 0; i < line.length; ++i, pace()) {
        const State next = combine(state, static_cast<State>(to_sum(source[line.at(i)])));
        target[line.at(i)] = from_sum<T>(before ? state : next);
        state = next;
      }
    });
  });
  return result;
}

}  // namespace scan
}  // namespace relish
