// Places in a text by its lines, which end at '\n' or with the text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace relish {

// Where the line begins that has `at` in it; `at` is at most the length of the text.
inline std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

// Where it ends: its '\n', or the end of the text.
inline std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

}  // namespace relish
