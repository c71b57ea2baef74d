// How an option is written where the user writes it.
#pragma once

#include <string>
#include <string_view>

#include "shell/command.h"

namespace relish {

// "--ignore-extra" in the shell, "ignore_extra" elsewhere.
std::string option_text(Surface surface, std::string_view name);

}  // namespace relish
