// Means and variances over axes: what variance, standard deviation and the normalizations share. Two passes:
// the mean, then the mean square of the deviations from it.
#pragma once

#include <cmath>

#include "stdlib/families/reductions/reduction.h"

namespace relish {

// --- Evaluation: in float64, for each place on the other axes in row-major order.

struct Moments {
  std::vector<double> mean, variance;
};

// A sum as a nest has it, in the type in which elements of T are computed: what overflows that is infinite.
template <class T>
double overflowing(double total) {
  const auto narrow = static_cast<Compute<T>>(total);
  return std::isinf(narrow) ? static_cast<double>(narrow) : total;
}

// Of `x`, read as a row-major tensor of shape `shape`. Not centred: the mean is taken as 0, so that the
// variance is the mean square. `wide`: nests compute it in float64 as well.
template <class T>
Moments moments(const Tensor& x, const Shape& shape, const std::vector<int>& axes, bool centred = true,
                bool wide = false) {
  std::int64_t count = 1;
  for (int axis : axes) count *= shape[static_cast<std::size_t>(axis)];
  Moments result;
  const auto sum = [&](double total) { return wide ? total : overflowing<T>(total); };
  if (centred) {
    result.mean = reduction::fold<T>(
        x, shape, axes, 0.0, [](double total, T element, std::size_t) { return total + to_sum(element); });
    for (double& mean : result.mean) mean = sum(mean) / static_cast<double>(count);
  }
  result.variance = reduction::fold<T>(x, shape, axes, 0.0, [&](double total, T element, std::size_t at) {
    const double deviation = to_sum(element) - (centred ? result.mean[at] : 0.0);
    return total + deviation * deviation;
  });
  if (!centred) result.mean.assign(result.variance.size(), 0.0);
  for (double& variance : result.variance) variance = sum(variance) / static_cast<double>(count);
  return result;
}

// --- Lowering: buffers over the dims that are not reduced. Not centred: `mean` is undefined.

struct MomentBuffers {
  Buffer mean, variance;
};
using ElementAt = std::function<Scalar(const Dims& index)>;
MomentBuffers lower_moments(Lowering& lowering, const Dims& shape, const std::vector<int>& axes, DType wide,
                            const ElementAt& element, bool centred = true);

// --- Gradients.

// The mean over axes, which stay as 1.
GraphValue mean_over(const GraphValue& x, const std::vector<int>& axes);

}  // namespace relish
