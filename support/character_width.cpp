// Ranges of characters that take two cells, or none.
#include "support/character_width.h"

#include <algorithm>
#include <iterator>

namespace relish {
namespace {

struct CharacterRange {
  char32_t first, last;
};

// In order.
constexpr CharacterRange wide_characters[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F004, 0x1F004}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr CharacterRange marks[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                                    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF},
                                    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

template <std::size_t Count>
bool is_in(char32_t character, const CharacterRange (&ranges)[Count]) {
  const auto* behind =
      std::upper_bound(std::begin(ranges), std::end(ranges), character,
                       [](char32_t c, const CharacterRange& range) { return c < range.first; });
  return behind != std::begin(ranges) && character <= std::prev(behind)->last;
}

struct Decoded {
  char32_t character;
  std::size_t bytes;
};

Decoded first_of(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0xC2 || first > 0xF4) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (bytes > text.size()) return {first, 1};
  char32_t value = first & (0x7F >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {first, 1};
    value = value << 6 | (next & 0x3F);
  }
  return {value, bytes};
}

}  // namespace

std::size_t character_width(char32_t character) {
  if (character < 0x300) return 1;
  return is_in(character, wide_characters) ? 2 : is_in(character, marks) ? 0 : 1;
}

std::size_t cluster_bytes(std::string_view text) {
  constexpr char32_t joiner = 0x200D;
  constexpr CharacterRange skins[] = {{0x1F3FB, 0x1F3FF}}, halves_of_flags[] = {{0x1F1E6, 0x1F1FF}},
                           tags[] = {{0xE0020, 0xE007F}};
  const Decoded first = first_of(text);
  if (first.character == U'\n') return first.bytes;
  std::size_t at = first.bytes;
  bool joined = false, half = is_in(first.character, halves_of_flags);
  while (at < text.size()) {
    const Decoded next = first_of(text.substr(at));
    const bool second = half && is_in(next.character, halves_of_flags);
    if (next.bytes == 1 || (!joined && !second && character_width(next.character) > 0 &&
                            !is_in(next.character, skins) && !is_in(next.character, tags)))
      break;
    joined = next.character == joiner;
    half = false;
    at += next.bytes;
  }
  return at;
}

std::size_t cells_in(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const Decoded next = first_of(text);
    cells += character_width(next.character);
    text.remove_prefix(next.bytes);
  }
  return cells;
}

std::string_view first_cells(std::string_view text, std::size_t cells) {
  std::size_t at = 0, used = 0;
  while (at < text.size()) {
    const Decoded next = first_of(text.substr(at));
    used += character_width(next.character);
    if (used > cells && at > 0) break;
    at += next.bytes;
  }
  return text.substr(0, at);
}

}  // namespace relish
