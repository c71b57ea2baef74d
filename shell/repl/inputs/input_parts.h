// What one Enter runs, or a text that the session reads: statements, with `:` commands between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/scanner.h"

namespace relish {

struct InputPart {
  // One `:` line, with those that its open brackets take along, or what asks for a page; else statements.
  bool command = false;
  std::string text;        // with its line ends
  std::uint32_t line = 1;  // in the whole, of its first
};

// `? relu`, `relu?`, `help train` and `?` as the command that they mean, `:help relu`; nothing for other
// lines. None of them is a statement.
std::optional<std::string> asked_page(std::string_view line);
// Whether the text is one word that other shells take without a colon, as quit and help: a statement, unless
// the session has a value of that name.
bool is_plain_word(std::string_view text);

// A copy of a session, with its prompts: the lines behind `>>> `, `[12 try] >>> ` and `... ` are the input,
// the others what it answered. Other text comes back as it is.
std::string without_prompts(std::string_view text);
// The inputs of such a copy, one a prompt; none for other text.
std::vector<std::string> inputs_of_copy(std::string_view text);

// In order. A line is a command where a statement could begin, not inside brackets or a string.
std::vector<InputPart> input_parts(std::string_view text);

// What an input still lacks, commands included.
Missing missing_in_input(std::string_view text);

}  // namespace relish
