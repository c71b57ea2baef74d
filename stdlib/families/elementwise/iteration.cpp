// Strides of broadcast operands.
#include "stdlib/families/elementwise/iteration.h"

namespace relish {

Shape broadcast_strides(const Shape& from, const Shape& to) {
  RELISH_CHECK(from.size() <= to.size());
  const Shape compact = row_major_strides(from);
  const std::size_t missing = to.size() - from.size();
  Shape strides(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) strides[missing + i] = compact[i];
  }
  return strides;
}

}  // namespace relish
