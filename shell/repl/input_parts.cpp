// Cutting of inputs into statements and commands.
#include "shell/repl/input_parts.h"

#include <algorithm>

namespace relish {
namespace {

constexpr std::string_view first_prompt = ">>>";
constexpr std::string_view next_prompt = "...";

// Calls `visit` for each line, its end included.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    visit(text.substr(begin, end - begin));
    begin = end;
  }
}

bool is_prompted(std::string_view line, std::string_view prompt) {
  if (!line.starts_with(prompt)) return false;
  line.remove_prefix(prompt.size());
  return line.empty() || line.front() == ' ' || line.front() == '\n';
}

bool may_begin_statement(std::string_view before) {
  if (before.find_first_not_of(" \t\n") == std::string_view::npos) return true;
  const Missing missing = missing_input(before);
  return missing == Missing::Nothing || missing == Missing::BlankLine;
}

}  // namespace

std::string without_prompts(std::string_view text) {
  if (!text.starts_with(">>> ")) return std::string(text);
  std::string input;
  for_each_line(text, [&](std::string_view line) {
    if (!is_prompted(line, first_prompt) && !is_prompted(line, next_prompt)) return;
    line.remove_prefix(std::min(first_prompt.size() + 1, line.size() - (line.ends_with('\n') ? 1 : 0)));
    input += line;
  });
  return input;
}

std::vector<InputPart> input_parts(std::string_view text) {
  std::vector<InputPart> parts;
  std::uint32_t number = 1;
  InputPart statements;
  const auto finish = [&] {
    const bool empty = statements.text.find_first_not_of(" \t\n") == std::string::npos;
    if (!empty) parts.push_back(statements);
    statements = {false, "", number};
  };
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with(':') && may_begin_statement(statements.text)) {
      finish();
      parts.push_back({true, std::string(line), number++});
      statements.line = number;
      return;
    }
    statements.text += line;
    ++number;
  });
  finish();
  return parts;
}

Missing missing_in_input(std::string_view text) {
  const std::vector<InputPart> parts = input_parts(text);
  if (parts.empty() || parts.back().command) return Missing::Nothing;
  return missing_input(parts.back().text);
}

std::string at_its_line(const InputPart& part) { return std::string(part.line - 1, '\n') + part.text; }

}  // namespace relish
