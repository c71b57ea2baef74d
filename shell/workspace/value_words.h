// What a value is in a few words, as lists of names show it.
#pragma once

#include <string>

#include "shell/script/script_value.h"

namespace relish {

// "float32 (2, 3)", "module of 3 functions", "5".
std::string overview_of(const ScriptValue& value);
// A line an entry, with its value in such words: "params  w float32 (2, 3), b float32 (3,)".
std::string entries_text(const ScriptDict& dict);

}  // namespace relish
