// Fans of weights.
#include "runtime/fans.h"

namespace relish {

Fans fans_of(std::span<const std::int64_t> shape) {
  if (shape.size() < 2) return {};
  if (shape.size() == 2) return {shape[0], shape[1]};
  std::int64_t window = 1;
  for (std::int64_t dim : shape.subspan(2)) window *= dim;
  return {shape[1] * window, shape[0] * window};
}

}  // namespace relish
