// Letters of all scripts, by Python's tables: what kind a character is, and what case makes of it. The tables
// (letter_tables.cpp) are of what lies beyond ASCII.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace relish {

// Of the characters from `first` to `last` each `step`th.
struct LetterRange {
  std::uint32_t first, last, step;
};
// These become the ones so far away.
struct LetterShift {
  std::uint32_t first, last, step;
  std::int32_t distance;
};
// One that becomes several.
struct LetterSpelling {
  std::uint32_t code;
  std::string_view text;
};

namespace letters {
extern const std::span<const LetterRange> alphabetic, numeric, digits, capitals, small, titles, ignored,
    unprintable;
extern const std::span<const LetterShift> to_upper, to_lower, to_title;
extern const std::span<const LetterSpelling> to_upper_spelt, to_lower_spelt, to_title_spelt;

// What repr and str of a list write as it is.
bool is_printable(std::uint32_t code);
bool is_letter(std::uint32_t code);
bool is_letter_or_number(std::uint32_t code);
bool is_digit(std::uint32_t code);
bool is_upper(std::uint32_t code);
bool is_lower(std::uint32_t code);
bool is_title(std::uint32_t code);
inline bool is_cased(std::uint32_t code) { return is_upper(code) || is_lower(code) || is_title(code); }

enum class Case : std::uint8_t { Lower, Upper, Capital, Title, Swapped };
// str.lower, upper, capitalize, title and swapcase.
std::string in_case(std::string_view text, Case which);

}  // namespace letters
}  // namespace relish
