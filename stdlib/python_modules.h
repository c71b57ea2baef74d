// What is written in the place of a module of Python's, or of another library: one table for what is said of
// an import and of a name such as os.path.exists.
#pragma once

#include <string_view>

namespace relish {

// Words that follow "; write " or stand alone, without a semicolon; empty for modules that are not known.
// `name` may be a member of one: os.path.
std::string_view instead_of_python_module(std::string_view name);

}  // namespace relish
