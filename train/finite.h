// Looking for NaN and infinity in values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/value.h"

namespace relish {

// Flat index of the first element that is NaN or infinite; none for finite and non-floating tensors.
std::optional<std::int64_t> first_not_finite(const Tensor& tensor);
// "WHAT 'NAME'" of the first of the tensors that holds one.
std::optional<std::string> not_finite_among(std::string_view what, const std::vector<std::string>& names,
                                            const std::vector<Tensor>& tensors);
// Path of the first tensor in a value that holds one: "", "0", "1.2".
std::optional<std::string> path_of_not_finite(const Value& value);

}  // namespace relish
