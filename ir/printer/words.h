// Names that a text can have.
#pragma once

#include <string_view>

namespace relish {

// Whether a variable of that name is printed by it, as far as others leave it free: letters, digits and
// underscores, and no word of Python.
bool prints_as_itself(std::string_view name);

}  // namespace relish
