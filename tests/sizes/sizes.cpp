// Blocks of a formatted text, line by line.
#include "tests/sizes/sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace relish::sizes {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string_view stripped(std::string_view line) { return line.substr(indent_of(line)); }

// Whether a head may go on behind this line.
bool ends_a_part(std::string_view line) {
  const std::string_view text = stripped(line);
  return text.empty() || text.starts_with("//") || text.starts_with("#") || text.ends_with(';') ||
         text.ends_with('{') || text.ends_with('}') || text.ends_with(':');
}

// The first line of the head whose '{' ends the line `open`; not before `from`.
std::size_t head_of(const std::vector<std::string_view>& lines, std::size_t open, std::size_t from) {
  std::size_t first = open;
  while (first > from && !ends_a_part(lines[first - 1])) --first;
  while (first < open && stripped(lines[first]).starts_with("template <")) ++first;
  return first;
}

// What holds functions: they are looked for inside.
bool is_room(std::string_view head) {
  for (const std::string_view word : {"class ", "struct ", "namespace ", "union ", "extern \"C\" {"})
    if (head.starts_with(word)) return head.find('(') == std::string_view::npos || head.starts_with("class ");
  return false;
}

// Behind the raw string that begins in the line; the line itself when it ends there or there is none.
std::size_t behind_raw_string(const std::vector<std::string_view>& lines, std::size_t line) {
  const std::size_t begin = lines[line].find("R\"");
  const std::size_t open = begin == std::string_view::npos ? begin : lines[line].find('(', begin);
  if (open == std::string_view::npos) return line;
  const std::string close = fmt::format("){}\"", lines[line].substr(begin + 2, open - begin - 2));
  if (lines[line].find(close, open) != std::string_view::npos) return line;
  for (std::size_t next = line + 1; next < lines.size(); ++next)
    if (lines[next].find(close) != std::string_view::npos) return next;
  return line;
}

}  // namespace

std::size_t lines_of(std::string_view text) { return split(text).size(); }

std::vector<LongFunction> long_functions(std::string_view text) {
  const std::vector<std::string_view> lines = split(text);
  std::vector<LongFunction> found;
  std::size_t from = 0;  // heads begin no earlier
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = stripped(lines[at]);
    if (!line.ends_with('{') || line.starts_with("//") || line.starts_with("#")) continue;
    const std::size_t first = head_of(lines, at, from);
    from = at + 1;
    if (is_room(stripped(lines[first]))) continue;
    // To the line that closes it.
    const std::size_t column = indent_of(lines[first]);
    std::size_t last = at + 1;
    while (last < lines.size() &&
           !(indent_of(lines[last]) == column && stripped(lines[last]).starts_with('}')))
      last = behind_raw_string(lines, last) + 1;
    bool called = false;  // a '(' before the '{': a function, not a table
    for (std::size_t part = first; part <= at; ++part)
      called = called || lines[part].find('(') != std::string_view::npos;
    const std::size_t size = std::min(last, lines.size() - 1) - first + 1;
    if (called && size > most_lines_of_function)
      found.push_back({std::string(stripped(lines[first])), first + 1, size});
    at = last;
    from = last + 1;
  }
  return found;
}

std::vector<std::string> faults_of(std::string_view path, std::string_view text) {
  std::vector<std::string> faults;
  if (const std::size_t lines = lines_of(text); lines > most_lines_of_file)
    faults.push_back(fmt::format("{}: {} lines; expected at most {}", path, lines, most_lines_of_file));
  for (const LongFunction& function : long_functions(text))
    faults.push_back(fmt::format("{}:{}: a function of {} lines, '{}'; expected at most {}", path,
                                 function.line, function.lines, function.head, most_lines_of_function));
  for (const CountedClass& each : classes_of(text))
    if (each.members > most_members_of_class)
      faults.push_back(fmt::format("{}:{}: a class of {} members, '{}'; expected at most {}", path, each.line,
                                   each.members, each.name, most_members_of_class));
  return faults;
}

}  // namespace relish::sizes
