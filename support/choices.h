// The end of a message about a name that is none of those there are.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace relish {

// "; did you mean 'width'?" where one is near, else "; there are width, height", the first of many; "; there
// are none" for none.
std::string among_choices(std::string_view wanted, std::span<const std::string> names);

}  // namespace relish
