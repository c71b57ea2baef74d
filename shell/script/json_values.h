// JSON as values of a script: objects are dicts, arrays lists, null is None; ints and floats stay apart.
#pragma once

#include <string>

#include "shell/script/script_value.h"

namespace relish {

// The value that a file holds; DataError with line and column for what is no JSON, for ints beyond 64 bits
// and for names that occur twice in an object.
ScriptValue read_json(const std::string& path);
// The value on one line, as Python writes it. TypeError at `span` that names the place in the value
// (`a[0].b`) for what JSON has not: tensors, functions, infinite numbers.
std::string json_text(const ScriptValue& value, Span span);

}  // namespace relish
