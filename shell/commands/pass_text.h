// The text of a pipeline, "append_loss(cross_entropy), gradient(wrt=[w0])": calls in the script's syntax
// without the module argument, where a bare name is a string.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/script/script_value.h"

namespace relish {

struct PassCall {
  std::string name;
  std::vector<std::pair<std::string, ScriptValue>> arguments;  // name empty for positional ones
};

// UsageError for a text that is no list of calls.
std::vector<PassCall> parse_passes(std::string_view text);

}  // namespace relish
