// Names that Python knows without an import and scripts do not have.
#pragma once

#include <string>
#include <string_view>

namespace relish {

// "; write type(x) == \"int\"": the end of a message about such a name; empty for others.
std::string python_name_advice(std::string_view name);

}  // namespace relish
