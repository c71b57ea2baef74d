// Names that complete a word: variables, functions of modules, operators, built-ins, commands and their
// options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relish {

class Script;

// Whole words that begin with the last word of `text`, sorted.
std::vector<std::string> complete(const Script& script, std::string_view text);

}  // namespace relish
