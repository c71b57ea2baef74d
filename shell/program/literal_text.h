// Values written on the command line: numbers, True, False, None, strings in quotes, nested lists and tuples,
// and the words that make a tensor for a parameter: rand, rand(seed=1), zeros, ones, key(0), @FILE[:ENTRY].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shell/script/script_value.h"
#include "support/value_text.h"

namespace relish {

// A literal; UsageError naming `what` otherwise.
ScriptValue parse_literal(std::string_view text, std::string_view what);

// The value of a text as a script has it, where words, calls and NAME=VALUE are texts as they are written.
ScriptValue script_value_of(const ValueText& text, const WrittenValue& value);

struct ArgumentText {
  enum Kind { Literal, File, Rand, Zeros, Ones, Key } kind = Literal;
  std::string text;                   // of the literal, or the file's path
  std::optional<std::uint64_t> seed;  // of rand and key
};
ArgumentText parse_argument_text(std::string_view text, std::string_view what);

}  // namespace relish
