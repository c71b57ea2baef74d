// The family of reductions over axes: axes and result shapes, and sums of whole tensors in the accumulating
// type.
#pragma once

#include "stdlib/families/dtypes.h"
#include "stdlib/families/gradient.h"
#include "stdlib/families/iteration.h"
#include "stdlib/families/lowering.h"
#include "stdlib/families/scalar_math.h"

namespace relish {

inline constexpr Param reduction_params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int or list[int] or None", "None", "axes to reduce; None reduces all"},
    {"keepdims", ParamKind::Attribute, "bool", "False", "keep the reduced axes with length 1"}};

namespace reduction {

bool keepdims(const CallView& call);
// Numbers in, the same dtype out, reduced axes dropped or kept as 1.
Type infer(const CallView& call);
// Row-major strides of the result seen from the input: 0 along the reduced axes.
Shape result_strides(const Shape& input, const std::vector<int>& axes);
// The concrete result shape.
Shape result_shape(const Shape& input, const std::vector<int>& axes, bool keepdims);

// Sums of `x` over `axes`, in the accumulating type, in row-major order of the result.
template <class T>
std::vector<Sum<T>> sums(const Tensor& x, const std::vector<int>& axes) {
  const Shape compact = result_shape(x.shape(), axes, false);
  std::vector<Sum<T>> totals(static_cast<std::size_t>(element_count(compact)));
  const T* source = x.view<T>().data();
  for_each_row<1>(x.shape(), {result_strides(x.shape(), axes)},
                  [&](const auto& offsets, const auto& strides, std::int64_t count) {
                    for (std::int64_t i = 0; i < count; ++i) {
                      Sum<T>& total = totals[static_cast<std::size_t>(offsets[0] + i * strides[0])];
                      total = total + to_sum(*source++);
                    }
                  });
  return totals;
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

// The cotangent of a reduction with its reduced axes back as 1, so that it broadcasts to the input.
GraphValue with_reduced_axes(const GradientRule& rule, const GraphValue& cotangent);

}  // namespace reduction
}  // namespace relish
