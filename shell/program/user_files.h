// Where the program keeps files of a user: folders by the XDG base directory specification.
#pragma once

#include <string>
#include <string_view>

namespace relish {

// `relish/NAME` below the folder that the environment's `variable` names, else below `fallback` in the home
// folder. Empty when neither is an absolute path.
std::string user_file(const char* variable, std::string_view fallback, std::string_view name);

}  // namespace relish
