// The size that the terminal tells, and breaking of lines.
#include "shell/program/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "support/character_width.h"

namespace relish {
namespace {

// Where the line's second column begins, behind two blanks, else its first word.
std::size_t hanging_place(std::string_view line, std::size_t columns) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", first);
  const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  // A list of short names may stand in one column: "  :save FILE         writes …".
  if (second != std::string_view::npos && second <= columns / 2) return second;
  const std::size_t one = line.find(' ', first);
  return first > 0 && one != std::string_view::npos && one + 1 <= columns / 2 && line[first] == ':' ? one + 1
                                                                                                    : first;
}

void add_wrapped(std::string& into, std::string_view line, std::size_t columns) {
  const std::size_t hang = std::min(hanging_place(line, columns), columns / 2);
  std::size_t indent = 0;
  while (cells_in(line) + indent > columns) {
    const std::string_view fits = first_cells(line, std::max<std::size_t>(columns - indent, 1));
    const std::size_t words = std::min(line.find_first_not_of(' '), line.size());
    // A blank right behind what fits ends a word as well.
    std::size_t end = fits.size() < line.size() && line[fits.size()] == ' ' ? fits.size() : fits.rfind(' ');
    // A word that is longer than a line is broken.
    if (end == std::string_view::npos || end <= words) end = fits.size();
    into += std::string(indent, ' ') + std::string(line.substr(0, end));
    while (into.ends_with(' ')) into.pop_back();
    into += '\n';
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    indent = hang;
  }
  if (!line.empty() || indent == 0) into += std::string(indent, ' ') + std::string(line) + '\n';
}

}  // namespace

std::size_t terminal_columns(std::size_t otherwise) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

std::string wrapped(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  std::string result;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_wrapped(result, text.substr(0, end), columns);
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  result.pop_back();
  return result;
}

}  // namespace relish
