// What other libraries call an operator: PyTorch's and NumPy's names, and TVM's own in other layers.
#pragma once

#include <optional>
#include <string_view>

namespace relish {

// The operator, without "R.", that has this last word of a name elsewhere; nothing for other words.
std::optional<std::string_view> operator_called_elsewhere(std::string_view word);

}  // namespace relish
