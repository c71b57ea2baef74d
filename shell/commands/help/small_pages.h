// Pages of what has none of its own: options of commands, methods of values, dtypes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// "early_stopping of train: …", a line for each command that has the option; with or without "--".
std::optional<std::string> option_page(std::string_view name);
// "xs.append(value)", a line for each kind of value that has the method.
std::optional<std::string> method_page(std::string_view name);
std::optional<std::string> dtype_page(std::string_view name);
// The names that these answer.
std::vector<std::string> option_and_method_names();

}  // namespace relish
