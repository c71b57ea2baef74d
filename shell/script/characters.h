// Characters of strs, which are UTF-8: their places in the bytes, and what kind some are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace relish {

inline bool is_decimal(char c) { return c >= '0' && c <= '9'; }

inline bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

inline std::size_t next_character(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && continues_character(text[at]));
  return at;
}
inline std::size_t previous_character(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && continues_character(text[at]));
  return at;
}
inline std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); });
}
// Where a character begins; the end of the text for those behind it.
inline std::size_t byte_of_character(std::string_view text, std::int64_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at = next_character(text, at);
  return at;
}
// Of one character.
inline std::uint32_t code_point(std::string_view one) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(one[i]));
  };
  const std::uint32_t first = byte(0);
  if (one.size() == 1) return first;
  std::uint32_t code = first & (0xFFu >> (one.size() + 1));
  for (std::size_t i = 1; i < one.size(); ++i) code = (code << 6) | (byte(i) & 0x3F);
  return code;
}

// As Python's str.isspace and str.splitlines have it.
inline bool is_space(std::uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}
inline bool is_line_end(std::uint32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 ||
         code == 0x2029;
}

}  // namespace relish
