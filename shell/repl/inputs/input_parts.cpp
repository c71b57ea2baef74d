// Cutting of inputs into statements and commands.
#include "shell/repl/inputs/input_parts.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

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

std::string_view without_line_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
}

// What may be asked for: relu, nn.relu, M.main, :undo.
bool is_name_of_page(std::string_view text) {
  if (text.starts_with(':')) text.remove_prefix(1);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
}

}  // namespace

std::optional<std::string> asked_page(std::string_view line) {
  constexpr std::string_view word = "help ", command = ":help";
  constexpr std::size_t longest = 200;
  std::string_view text = without_line_end(line);
  if (text.size() > longest) return std::nullopt;
  if (text == "?" || text == "??") return std::string(command);
  const bool asks = text.starts_with('?') || text.ends_with('?') || text.starts_with(word);
  if (!asks || (text.starts_with('?') && text.ends_with('?'))) return std::nullopt;
  if (text.starts_with(word)) text.remove_prefix(word.size());
  while (text.starts_with('?')) text.remove_prefix(1);
  while (text.ends_with('?')) text.remove_suffix(1);
  text = without_line_end(text.substr(std::min(text.find_first_not_of(" \t"), text.size())));
  // `help -x` is a difference; `help` alone may be a name.
  if (!is_name_of_page(text)) return std::nullopt;
  return fmt::format("{} {}", command, text);
}

bool is_plain_word(std::string_view text) {
  constexpr std::array<std::string_view, 6> words = {"help", "help()", "quit", "quit()", "exit", "exit()"};
  return std::find(words.begin(), words.end(), without_line_end(text)) != words.end();
}

std::vector<std::string> inputs_of_copy(std::string_view text) {
  const std::string_view first = text.substr(0, std::min(text.find('\n'), text.size()));
  const auto begins = prompt_length(first, true);
  if (!begins || !first.substr(0, *begins).ends_with(' ')) return {};
  std::vector<std::string> inputs;
  // Indented dots go on with a prompt above them; elsewhere they are part of an answer.
  bool open = false;
  for_each_line(text, [&](std::string_view line) {
    const auto length = prompt_length(line, false);
    open = length && (open || !line.starts_with(' '));
    if (!open) return;
    if (prompt_length(line, true)) inputs.emplace_back();
    inputs.back() += line.substr(*length);
  });
  return inputs;
}

std::string without_prompts(std::string_view text) {
  const std::vector<std::string> inputs = inputs_of_copy(text);
  if (inputs.empty()) return std::string(text);
  std::string all;
  for (const std::string& input : inputs) all += input;
  return all;
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
    const std::optional<std::string> page = asked_page(line);
    if ((page || line.starts_with(':')) && may_begin_statement(statements.text)) {
      finish();
      parts.push_back({true, page ? *page + "\n" : std::string(line), number++});
      statements.line = number;
      return;
    }
    if (is_plain_word(line) && may_begin_statement(statements.text)) {
      finish();
      parts.push_back({false, std::string(line), number++});
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
  // Of a copy the answers are no part of it.
  const std::vector<std::string> copied = inputs_of_copy(text);
  const std::vector<InputPart> parts = input_parts(copied.empty() ? text : copied.back());
  if (parts.empty()) return Missing::Nothing;
  if (parts.back().command) return is_open_command(parts.back().text) ? Missing::Bracket : Missing::Nothing;
  return missing_input(parts.back().text);
}

}  // namespace relish
