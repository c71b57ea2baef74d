// Commands of the shell in a page: one a line in a fence of kind `sh`, and one between backquotes in the
// text. Only the program itself is run, without a shell, in the folder of the page.
#pragma once

#include <string>
#include <vector>

#include "tests/golden/process.h"

namespace relish::testing {

// The words of a line behind `relish`; quotes hold blanks. Throws std::runtime_error for a line of another
// program, or one that only a shell understands.
std::vector<std::string> words_of_command(const std::string& line);
// The commands of a fence: its lines, but for comments; a line that ends in \ goes on in the next.
std::vector<std::string> commands_of_fence(const std::string& text);
// `relish …` between backquotes, with the number of its line; `text` is what stands between two fences.
struct InlineCommand {
  std::size_t line;
  std::string text;
};
std::vector<InlineCommand> inline_commands(const std::string& text, std::size_t first_line);

ProcessResult run_command_line(const std::string& line, const std::string& folder);

// Whether what was found is what a page shows: line by line, where … stands for any text in a line.
bool matches_shown(const std::string& shown, const std::string& found);

}  // namespace relish::testing
