// Looking for NaN and infinity in values.
#pragma once

#include <optional>
#include <string>

#include "runtime/value.h"

namespace relish {

// Flat index of the first element that is NaN or infinite; none for finite and non-floating tensors.
std::optional<std::int64_t> first_not_finite(const Tensor& tensor);
// Path of the first tensor in a value that holds one: "", "0", "1.2".
std::optional<std::string> path_of_not_finite(const Value& value);

}  // namespace relish
