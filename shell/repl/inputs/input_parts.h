// What one Enter runs, or a text that the session reads: statements, with `:` commands between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/scanner.h"

namespace relish {

struct InputPart {
  bool command = false;  // one `:` line, with those that its open brackets take along; else statements
  std::string text;      // with its line ends
  std::uint32_t line = 1;
};

// A copy of a session, with its prompts: the lines behind `>>> `, `[12 try] >>> ` and `... ` are the input,
// the others what it answered. Other text comes back as it is.
std::string without_prompts(std::string_view text);

// In order. A line is a command where a statement could begin, not inside brackets or a string.
std::vector<InputPart> input_parts(std::string_view text);

// What an input still lacks, commands included.
Missing missing_in_input(std::string_view text);

// The text of a part as a source of its own whose lines are numbered as in the whole.
std::string at_its_line(const InputPart& part);

}  // namespace relish
