// Places of a line of Python's that stand in no string of it.
#pragma once

#include <cstddef>
#include <string_view>

namespace relish {

// The first character outside of strings for which `is(at)` holds, which is asked of each in order; the
// line's size where there is none.
template <class Is>
std::size_t find_unquoted(std::string_view line, const Is& is) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (is(at)) {
      return at;
    }
  }
  return line.size();
}

}  // namespace relish
