// Names that programs of the generator use: plain ones, those that passes make, those that come close to
// words of the language, and hints that are no identifiers at all.
#pragma once

#include <string>

#include "tests/generate/random.h"

namespace relish::generate {

// Of a variable that is no parameter: a hint, which the printer may have to change.
std::string variable_name(Random& random);
// Of a parameter: a name that the printer can keep, which is not one of `taken`.
std::string parameter_name(Random& random, const std::vector<std::string>& taken);
std::string dimension_name(Random& random);
// Of a global function: an identifier that is not one of `taken`.
std::string function_name(Random& random, const std::vector<std::string>& taken);
std::string class_name(Random& random);
std::string block_name(Random& random);
std::string comment_text(Random& random);

}  // namespace relish::generate
