// Cutting of inputs into statements and commands.
#include "shell/repl/inputs/input_parts.h"

#include <algorithm>
#include <optional>

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

// How long the prompt is that the line begins with, `>>>`, `[12 try] >>>` or `...` with blanks in front of it
// and one behind; nothing for a line without one.
std::optional<std::size_t> prompt_length(std::string_view line, bool first) {
  std::size_t at = 0;
  if (line.starts_with('[')) {
    const std::size_t end = line.find("] ");
    const std::string_view place = line.substr(1, std::min(end, line.size()) - 1);
    if (end == std::string_view::npos || place.empty() || place.front() < '0' || place.front() > '9')
      return std::nullopt;
    at = end + 2;
  } else if (!first) {
    at = std::min(line.find_first_not_of(' '), line.size());
  }
  const std::string_view rest = line.substr(at);
  const bool opens = rest.starts_with(first_prompt);
  if (!opens && (first || !rest.starts_with(next_prompt) || line.starts_with('['))) return std::nullopt;
  if (opens && at > 0 && !line.starts_with('[')) return std::nullopt;
  at += first_prompt.size();
  if (at < line.size() && line[at] == ' ') return at + 1;
  if (at == line.size() || line[at] == '\n') return at;
  return std::nullopt;
}

// Whether a `:` line goes on, since a bracket is open.
bool is_open_command(std::string_view text) {
  return text.starts_with(':') && missing_input(text.substr(1)) == Missing::Bracket;
}

bool may_begin_statement(std::string_view before) {
  if (before.find_first_not_of(" \t\n") == std::string_view::npos) return true;
  const Missing missing = missing_input(before);
  return missing == Missing::Nothing || missing == Missing::BlankLine;
}

}  // namespace

std::string without_prompts(std::string_view text) {
  const std::string_view first = text.substr(0, std::min(text.find('\n'), text.size()));
  const auto begins = prompt_length(first, true);
  if (!begins || !first.substr(0, *begins).ends_with(' ')) return std::string(text);
  std::string input;
  // Indented dots go on with a prompt above them; elsewhere they are part of an answer.
  bool open = false;
  for_each_line(text, [&](std::string_view line) {
    const auto length = prompt_length(line, false);
    open = length && (open || !line.starts_with(' '));
    if (open) input += line.substr(*length);
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
    if (!parts.empty() && parts.back().command && statements.text.empty() &&
        is_open_command(parts.back().text)) {
      parts.back().text += line;
      statements.line = ++number;
      return;
    }
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
  if (parts.empty()) return Missing::Nothing;
  if (parts.back().command) return is_open_command(parts.back().text) ? Missing::Bracket : Missing::Nothing;
  return missing_input(parts.back().text);
}

std::string at_its_line(const InputPart& part) { return std::string(part.line - 1, '\n') + part.text; }

}  // namespace relish
