// Text of tensors and values as users see it: dtype, shape and elements, elided in the middle when large;
// `full` prints every element with enough digits to read back exactly. The text of a tensor reads as nested
// lists.
#pragma once

#include <string>

#include "runtime/value.h"

namespace relish {

struct FormatOptions {
  bool full = false;
  int edge_items = 3;      // elements kept at each end of a dimension when elided
  int elide_above = 1000;  // element count above which a tensor is elided
  int width = 100;         // columns before a row is broken
};

// "float32 (2, 3)\n[[1, 2, 3],\n [4, 5, 6]]"; rank 0: "float32 () 2.5".
std::string format_tensor(const Tensor& tensor, const FormatOptions& options = {});
std::string format_value(const Value& value, const FormatOptions& options = {});
// Shortest round-trip text of a number as TVMScript writes it: "1.0", "1e-05", "inf", "nan", "-inf".
std::string format_double(double value);
std::string format_float(float value);
std::string format_element(const Tensor& tensor, std::int64_t index);
// "(2, 3)", "(2,)", "()".
std::string format_shape(const Shape& shape);

}  // namespace relish
