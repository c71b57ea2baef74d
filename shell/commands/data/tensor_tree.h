// Trees of tensors in files that hold tensors by name: the leaf ["params"]["w"] is "params.w", and the items
// of a list or tuple have their places as names.
#pragma once

#include "runtime/files.h"
#include "shell/script/script_value.h"
#include "support/source.h"

namespace relish {

// The tree that such names say: dicts, and tuples where the names are 0, 1, … . DataError where a name is a
// tensor and has others below it.
ScriptValue tree_of_tensors(NamedTensors tensors, Span span);

}  // namespace relish
