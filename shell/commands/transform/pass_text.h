// The text of a pipeline, "append_loss(cross_entropy), gradient(wrt=[w0])": calls in the script's syntax
// without the module argument, where a bare name is a string.
#pragma once

#include <string>
#include <vector>

#include "shell/command.h"
#include "support/value_text.h"

namespace relish {

struct PassCall {
  std::string name;
  std::vector<WrittenValue> arguments;  // an Argument for each that is named
};

// UsageError for a text that is no list of calls.
std::vector<PassCall> parse_passes(ValueText& text);

// The value that an option of that kind gets, as it would from the command line: what is a text there is one
// here.
ScriptValue pass_argument(const ValueText& text, OptionKind kind, const WrittenValue& value);

}  // namespace relish
