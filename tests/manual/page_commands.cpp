// Reading and running of the commands in a page.
#include "tests/manual/page_commands.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace relish::testing {
namespace {

constexpr std::string_view any_text = "…";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool line_matches(std::string_view shown, std::string_view found) {
  const std::size_t mark = shown.find(any_text);
  if (mark == shown.npos) return shown == found;
  if (!found.starts_with(shown.substr(0, mark))) return false;
  const std::string_view behind = shown.substr(mark + any_text.size());
  for (std::size_t at = mark; at <= found.size(); ++at)
    if (line_matches(behind, found.substr(at))) return true;
  return false;
}

}  // namespace

std::vector<std::string> words_of_command(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ') {
      if (open) words.push_back(std::exchange(word, ""));
      open = false;
    } else if (std::string_view("|&;<>$`*?").find(c) != std::string_view::npos) {
      throw std::runtime_error("only a shell would understand: " + line);
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  if (words.empty() || words.front() != "relish") throw std::runtime_error("no command of relish: " + line);
  words.erase(words.begin());
  return words;
}

std::vector<std::string> commands_of_fence(const std::string& text) {
  std::vector<std::string> commands;
  bool goes_on = false;
  for (std::string line : lines_of(text)) {
    if (line.empty() || line.starts_with('#')) continue;
    const bool ends_open = line.ends_with('\\');
    if (ends_open) line.pop_back();
    if (goes_on) {
      commands.back() += line;
    } else {
      commands.push_back(line);
    }
    goes_on = ends_open;
  }
  return commands;
}

std::vector<InlineCommand> inline_commands(const std::string& text, std::size_t first_line) {
  constexpr std::string_view start = "`relish ";
  std::vector<InlineCommand> found;
  for (std::size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
    const std::size_t end = text.find('`', at + 1);
    if (end == text.npos) break;
    if (at > 0 && text[at - 1] == '`') continue;  // the head of a fence
    std::string command = text.substr(at + 1, end - at - 1);
    const auto line = first_line + static_cast<std::size_t>(std::count(
                                       text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    std::replace(command.begin(), command.end(), '\n', ' ');
    found.push_back({line, command});
  }
  return found;
}

ProcessResult run_command_line(const std::string& line, const std::string& folder) {
  ProcessRequest request;
  request.arguments = words_of_command(line);
  request.folder = folder;
  return run_program(request);
}

bool matches_shown(const std::string& shown, const std::string& found) {
  const std::vector<std::string> left = lines_of(shown), right = lines_of(found);
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!line_matches(left[i], right[i])) return false;
  return true;
}

}  // namespace relish::testing
