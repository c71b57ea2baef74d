// Other spellings of a printed program that must read as the same module: older names, sugar, quotes,
// brackets, line breaks, tabs, line ends.
#pragma once

#include <string>

#include "tests/generate/random.h"

namespace relish::generate {

// `exact_types`: every annotation is what inference gives, so some may go.
std::string variant_of(const std::string& text, Random& random, bool exact_types);

}  // namespace relish::generate
