// Pages of what stands behind "T." in a prim_func.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// "T.if_then_else(condition, a, b)", with what it gives; `name` with "T.".
std::optional<std::string> loop_function_page(std::string_view name);
// The names that it answers, with "T.".
std::vector<std::string> loop_function_names();

}  // namespace relish
