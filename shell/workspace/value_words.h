// What a value is in a few words, as lists of names show it.
#pragma once

#include <string>

#include "shell/script/script_value.h"

namespace relish {

// "float32 (2, 3)", "module of 3 functions", "5".
std::string overview_of(const ScriptValue& value);

}  // namespace relish
