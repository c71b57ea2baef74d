// The family of softmax and its logarithm along an axis. Both subtract the largest element of the line first,
// so that large inputs do not overflow.
#pragma once

#include <cmath>

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/scalar_math.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/lines.h"

namespace relish {

inline constexpr Param softmax_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"axis", ParamKind::Attribute, "int", "-1", "the dimension along which the exponentials sum to 1"}};

namespace softmax {

Type infer(const CallView& call);
// The axis of [0, rank) of a tensor of rank `rank`.
int axis_of(const CallView& call, int rank);

// Line by line, in float64: finish(x - largest, sum of exp(x - largest)).
template <class Finish>
Value evaluate(const EvalCall& c, Finish finish) {
  const Tensor& data = c.in(0);
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  visit_float(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = data.view<T>().data();
    T* target = result.mutable_view<T>().data();
    Pace pace;
    for_each_line(data.shape(), axis_of(c.call, data.rank()), [&](const Line& line) {
      const auto x = [&](std::int64_t i) { return to_sum(source[line.at(i)]); };
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < line.length; ++i, pace()) largest = maximum_ieee(largest, x(i));
      double total = 0;
      for (std::int64_t i = 0; i < line.length; ++i, pace()) total += std::exp(x(i) - largest);
      for (std::int64_t i = 0; i < line.length; ++i, pace())
        target[line.at(i)] = T(finish(x(i) - largest, total));
    });
  });
  return result;
}

// The same as nests. `finish` makes an element of exp(x - largest) where it takes the exponential, and the
// sum.
enum class Takes : std::uint8_t { Exponential, Shifted };
PrimFunc lower(const LowerCall& c, std::string_view block, Takes takes,
               const std::function<Scalar(const Scalar& value, const Scalar& total)>& finish);

}  // namespace softmax
}  // namespace relish
