// The family of reductions over axes: axes and result shapes, and sums of whole tensors in the accumulating
// type.
#pragma once

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "support/held_vector.h"

namespace relish {

inline constexpr Param reduction_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int or list[int] or None", "None", "axes to reduce; None reduces all"},
    {"keepdims", ParamKind::Attribute, "bool", "False", "keep the reduced axes with length 1"}};

namespace reduction {

bool keepdims(const CallView& call);
// Numbers in, the same dtype out, reduced axes dropped or kept as 1.
Type infer(const CallView& call);
// The same of bools too.
Type infer_of_all(const CallView& call);
// The same of floats alone; rejects others by "dtype".
Type infer_of_floats(const CallView& call);
// Row-major strides of the result seen from the input: 0 along the reduced axes.
Shape result_strides(const Shape& input, const std::vector<int>& axes);
// The concrete result shape.
Shape result_shape(const Shape& input, const std::vector<int>& axes, bool keepdims);
// The result of a call over `axes`, of the dtype of its first operand, before anything is written to it.
Tensor empty_result(const EvalCall& c, const std::vector<int>& axes);

// For each element of the result, in row-major order: `start` combined with the elements of `x` along `axes`,
// in row-major order, by combine(accumulated, element, offset in the result).
template <class T, class Accumulated, class Combine>
HeldVector<Accumulated> fold(const Tensor& x, const Shape& shape, const std::vector<int>& axes,
                             Accumulated start, Combine&& combine) {
  const Shape compact = result_shape(shape, axes, false);
  HeldVector<Accumulated> totals(element_count(compact), "the results of a reduction", start);
  const T* source = x.view<T>().data();
  for_each_row<1>(shape, {result_strides(shape, axes)},
                  [&](const auto& offsets, const auto& strides, std::int64_t count) {
                    for (std::int64_t i = 0; i < count; ++i) {
                      const auto at = static_cast<std::size_t>(offsets[0] + i * strides[0]);
                      totals[at] = combine(totals[at], *source++, at);
                    }
                  });
  return totals;
}

// Sums of `x` over `axes`, in the accumulating type, in row-major order of the result.
template <class T>
HeldVector<Sum<T>> sums(const Tensor& x, const std::vector<int>& axes) {
  return fold<T>(x, x.shape(), axes, Sum<T>{},
                 [](Sum<T> total, T element, std::size_t) { return total + to_sum(element); });
}

// A loop nest that splits the input's dims into spatial ones (those of the result) and reduced ones.
struct ReducedLoops {
  Dims spatial, reduce;
  std::vector<int> axes;
  bool kept;

  ReducedLoops(const Dims& input, std::vector<int> axes, bool keepdims);
  // The input's index for a spatial and a reduce index.
  Dims input_index(const Dims& s, const Dims& r) const;
};
// Those of a call whose first operand is `x`.
ReducedLoops loops_of(const LowerCall& c, const Buffer& x);

// How many elements go into one of the result.
Scalar count_of(const Dims& input, const std::vector<int>& axes);
// That number as an operand for arithmetic with `like`: a constant, or a scalar where it is symbolic.
GraphValue count_like(const GraphValue& like, const Scalar& count);

// The cotangent of a reduction with its reduced axes back as 1, so that it broadcasts to the input.
GraphValue with_reduced_axes(const GradientRule& rule, const GraphValue& cotangent);

}  // namespace reduction
}  // namespace relish
