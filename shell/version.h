// The version of the program, as `relish --version` prints it.
#pragma once

#include <string>

namespace relish {

inline std::string version_text() { return "relish " RELISH_VERSION; }

}  // namespace relish
