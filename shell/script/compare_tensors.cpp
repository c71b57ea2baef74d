// Element by element comparison.
#include "shell/script/compare_tensors.h"

#include <cmath>

#include "runtime/format.h"
#include "support/interrupt.h"

namespace relish {

std::optional<ElementDifference> first_difference(const Tensor& a, const Tensor& b,
                                                  const Closeness& closeness) {
  std::int64_t count = std::max(a.size(), b.size());
  if (a.size() == 0 || b.size() == 0) return std::nullopt;
  bool integers = !is_float(a.dtype()) && !is_float(b.dtype());
  for (std::int64_t i = 0; i < count; ++i) {
    poll_interrupt();
    std::int64_t ia = a.rank() == 0 ? 0 : i;
    std::int64_t ib = b.rank() == 0 ? 0 : i;
    if (integers && a.get_int(ia) == b.get_int(ib)) continue;
    double x = a.get_double(ia);
    double y = b.get_double(ib);
    double error = std::fabs(x - y);
    bool close = false;
    if (std::isnan(x) || std::isnan(y)) {
      close = std::isnan(x) && std::isnan(y) && closeness.equal_nan;
    } else if (!std::isfinite(x) || !std::isfinite(y)) {
      close = x == y;
    } else {
      // Large integers may differ although their doubles are equal.
      double tolerance = closeness.atol + closeness.rtol * std::fabs(y);
      close = error <= tolerance && (tolerance > 0 || !integers);
    }
    if (!close) return ElementDifference{i, format_element(a, ia), format_element(b, ib), error};
  }
  return std::nullopt;
}

std::string index_text(const Shape& shape, std::int64_t flat) {
  std::string result = "[";
  Shape strides = row_major_strides(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) result += ", ";
    result += std::to_string(flat / strides[i]);
    flat %= strides[i];
  }
  return result + "]";
}

}  // namespace relish
