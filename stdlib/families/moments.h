// Means and variances over axes: what variance, standard deviation and the normalizations share. Two passes:
// the mean, then the mean square of the deviations from it.
#pragma once

#include "stdlib/families/reduction.h"

namespace relish {

// --- Evaluation: in float64, for each place on the other axes in row-major order.

struct Moments {
  std::vector<double> mean, variance;
};

// Of `x`, read as a row-major tensor of shape `shape`. Not centred: the mean is taken as 0, so that the
// variance is the mean square.
template <class T>
Moments moments(const Tensor& x, const Shape& shape, const std::vector<int>& axes, bool centred = true) {
  std::int64_t count = 1;
  for (int axis : axes) count *= shape[static_cast<std::size_t>(axis)];
  Moments result;
  if (centred) {
    result.mean = reduction::fold<T>(
        x, shape, axes, 0.0, [](double total, T element, std::size_t) { return total + to_sum(element); });
    for (double& mean : result.mean) mean /= static_cast<double>(count);
  }
  result.variance = reduction::fold<T>(x, shape, axes, 0.0, [&](double total, T element, std::size_t at) {
    const double deviation = to_sum(element) - (centred ? result.mean[at] : 0.0);
    return total + deviation * deviation;
  });
  if (!centred) result.mean.assign(result.variance.size(), 0.0);
  for (double& variance : result.variance) variance /= static_cast<double>(count);
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
