// The line of a search.
#include "shell/repl/editor/search_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "support/lines.h"

namespace relish {

std::optional<std::size_t> search_begin(const std::string& text) {
  const std::size_t row = line_begin(text, text.size());
  const std::string_view last = std::string_view(text).substr(row);
  const bool searches = last.size() > 3 && (last.starts_with("bck") || last.starts_with("fwd")) &&
                        (last[3] == ':' || last[3] == '?');
  return row > 0 && searches ? std::optional(row - 1) : std::nullopt;
}

std::optional<std::string> take_search(EditedText& text) {
  const auto begin = search_begin(text.text);
  if (!begin) return std::nullopt;
  const bool back = text.text[*begin + 1] == 'b', found = text.text[*begin + 4] == ':';
  std::string line = fmt::format("{}search {}: {}", found ? "" : "no input has it; ",
                                 back ? "back" : "forward", text.text.substr(*begin + 5));
  text.text.resize(*begin);
  text.cursor = std::min(text.cursor, *begin);
  return line;
}

}  // namespace relish
