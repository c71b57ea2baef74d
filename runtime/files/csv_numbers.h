// Numbers in the cells of tables, and numbers as they are written elsewhere: with a decimal comma, with
// separators of thousands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/dtype.h"

namespace relish {

// Without the plus in front of a number.
std::string_view without_plus(std::string_view text);
// The number nearest to `text` in the precision of T (float or double), rounded once; none when it is no
// number or too large. What is too small for T is a subnormal or zero.
template <class T>
std::optional<T> csv_number(std::string_view text);
// Whether the text is no integer, or one that the dtype, a float, has.
bool holds_if_integer(DType dtype, std::string_view text);
// Digits alone, behind a minus or not.
bool has_only_digits(std::string_view text);

// The text of a cell as the functions above read it: without a plus, and with a decimal point where `decimal`
// is the comma, by way of `buffer`. There "1.5" is no number.
std::string_view number_text(std::string_view cell, char decimal, std::string& buffer);

// How a text that is no number here would be one elsewhere: "1,5" with a decimal comma, "1,234.5" or "1
// 234,5" with separators of thousands, "1,500" either way.
struct NumberElsewhere {
  std::string with_comma;  // read with a decimal comma, written with a point; empty: it cannot be
  std::string grouped;     // without its separators of thousands
};
NumberElsewhere number_elsewhere(std::string_view cell);
// What a message says of such a cell behind its text and column; empty where it is no number anywhere.
std::string advice_on_number(std::string_view cell, char decimal);

}  // namespace relish
