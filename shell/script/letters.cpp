// Kinds and case of characters.
#include "shell/script/letters.h"

#include <algorithm>

#include "shell/script/characters.h"
#include "shell/script/format_spec.h"

namespace relish::letters {
namespace {

constexpr std::uint32_t sigma = 0x3A3, small_sigma = 0x3C3, final_sigma = 0x3C2;

bool is_ascii(std::uint32_t code) { return code < 0x80; }
bool is_capital_of_ascii(std::uint32_t code) { return code >= 'A' && code <= 'Z'; }
bool is_small_of_ascii(std::uint32_t code) { return code >= 'a' && code <= 'z'; }

// The row that the character is in; null when it is in none.
template <class Row>
const Row* row_of(std::span<const Row> rows, std::uint32_t code) {
  const auto behind =
      std::upper_bound(rows.begin(), rows.end(), code,
                       [](std::uint32_t wanted, const Row& row) { return wanted < row.first; });
  if (behind == rows.begin()) return nullptr;
  const Row& row = *(behind - 1);
  return code <= row.last && (code - row.first) % row.step == 0 ? &row : nullptr;
}

// What a character becomes; nothing where the tables do not tell.
std::string mapped(std::uint32_t code, std::span<const LetterShift> shifts,
                   std::span<const LetterSpelling> spellings) {
  const auto spelt = std::lower_bound(
      spellings.begin(), spellings.end(), code,
      [](const LetterSpelling& spelling, std::uint32_t wanted) { return spelling.code < wanted; });
  if (spelt != spellings.end() && spelt->code == code) return std::string(spelt->text);
  const LetterShift* shift = row_of(shifts, code);
  if (!shift) return {};
  return character_text(static_cast<std::uint32_t>(static_cast<std::int64_t>(code) + shift->distance));
}

std::string upper_of(std::uint32_t code) {
  if (is_ascii(code)) return character_text(is_small_of_ascii(code) ? code - 'a' + 'A' : code);
  std::string text = mapped(code, to_upper, to_upper_spelt);
  return text.empty() ? character_text(code) : text;
}

std::string titled(std::uint32_t code) {
  const std::string text = is_ascii(code) ? std::string() : mapped(code, to_title, to_title_spelt);
  return text.empty() ? upper_of(code) : text;
}

std::string lower_of(std::uint32_t code) {
  if (is_ascii(code)) return character_text(is_capital_of_ascii(code) ? code - 'A' + 'a' : code);
  std::string text = mapped(code, to_lower, to_lower_spelt);
  return text.empty() ? character_text(code) : text;
}

std::uint32_t code_at(std::string_view text, std::size_t at) {
  return code_point(text.substr(at, next_character(text, at) - at));
}

// Whether a letter stands on that side of the sigma at `at`, before anything that ends a word.
bool has_letter_before(std::string_view text, std::size_t at) {
  while (at > 0) {
    at = previous_character(text, at);
    const std::uint32_t code = code_at(text, at);
    if (!row_of(ignored, code)) return is_cased(code);
  }
  return false;
}
bool has_letter_behind(std::string_view text, std::size_t at) {
  for (at = next_character(text, at); at < text.size(); at = next_character(text, at)) {
    const std::uint32_t code = code_at(text, at);
    if (!row_of(ignored, code)) return is_cased(code);
  }
  return false;
}

std::string lower_at(std::string_view text, std::size_t at, std::uint32_t code) {
  if (code != sigma) return lower_of(code);
  const bool last = has_letter_before(text, at) && !has_letter_behind(text, at);
  return character_text(last ? final_sigma : small_sigma);
}

}  // namespace

bool is_printable(std::uint32_t code) {
  if (is_ascii(code)) return code >= ' ' && code != 0x7F;
  return row_of(unprintable, code) == nullptr;
}
bool is_letter(std::uint32_t code) {
  if (is_ascii(code)) return is_capital_of_ascii(code) || is_small_of_ascii(code);
  return row_of(alphabetic, code) != nullptr;
}

bool is_letter_or_number(std::uint32_t code) {
  if (is_ascii(code)) return is_letter(code) || is_decimal(static_cast<char>(code));
  return is_letter(code) || row_of(numeric, code) != nullptr;
}

bool is_digit(std::uint32_t code) {
  return is_ascii(code) ? is_decimal(static_cast<char>(code)) : row_of(digits, code) != nullptr;
}

bool is_upper(std::uint32_t code) {
  return is_ascii(code) ? is_capital_of_ascii(code) : row_of(capitals, code) != nullptr;
}

bool is_lower(std::uint32_t code) {
  return is_ascii(code) ? is_small_of_ascii(code) : row_of(small, code) != nullptr;
}

bool is_title(std::uint32_t code) { return !is_ascii(code) && row_of(titles, code) != nullptr; }

std::string in_case(std::string_view text, Case which) {
  std::string result;
  bool inside = false;  // of a word, or of the text behind its first character
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) {
    const std::uint32_t code = code_at(text, at);
    switch (which) {
      case Case::Lower:
        result += lower_at(text, at, code);
        break;
      case Case::Upper:
        result += upper_of(code);
        break;
      case Case::Swapped:
        result += is_upper(code)   ? lower_at(text, at, code)
                  : is_lower(code) ? upper_of(code)
                                   : character_text(code);
        break;
      case Case::Capital:
      case Case::Title:
        result += inside ? lower_at(text, at, code) : titled(code);
        inside = which == Case::Capital || is_cased(code);
        break;
    }
  }
  return result;
}

}  // namespace relish::letters
