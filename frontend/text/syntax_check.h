// Whether a text is one of the language, without reading what it means: names are not looked up.
#pragma once

#include <cstdint>

#include "support/diagnostic.h"

namespace relish {

// Reports what does not parse, and what is refused by name.
void check_syntax_of(std::uint32_t file, Diagnostics& diagnostics);

}  // namespace relish
