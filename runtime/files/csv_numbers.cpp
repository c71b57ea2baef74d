// Reading of numbers in cells; the forms that are refused with what to write.
#include "runtime/files/csv_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "runtime/literal.h"
#include "runtime/tensor.h"
#include "support/render.h"

namespace relish {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

// "1,234,567.5" as "1234567.5": groups of three digits with `group` between them, then the fraction.
std::string without_groups(std::string_view text, std::string_view group, char decimal) {
  constexpr std::size_t digits_of_group = 3;
  std::string plain(text.starts_with('-') ? 1 : 0, '-');
  std::size_t at = plain.size();
  const std::size_t first = digits_at(text, at);
  if (first == 0 || first > digits_of_group) return {};
  plain += text.substr(at, first);
  at += first;
  bool grouped = false;
  while (text.substr(at).starts_with(group) && digits_at(text, at + group.size()) == digits_of_group) {
    plain += text.substr(at + group.size(), digits_of_group);
    at += group.size() + digits_of_group;
    grouped = true;
  }
  if (grouped && at < text.size() && text[at] == decimal) {
    const std::size_t places = digits_at(text, at + 1);
    plain += '.';
    plain += text.substr(at + 1, places);
    at += 1 + places;
  }
  return grouped && at == text.size() ? plain : std::string();
}

}  // namespace

std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return text;
}

template <class T>
std::optional<T> csv_number(std::string_view text) {
  T value = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || rest != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  // from_chars does not tell which end of the range was passed.
  const std::string copy(text);
  if constexpr (std::is_same_v<T, float>) {
    value = std::strtof(copy.c_str(), nullptr);
  } else {
    value = std::strtod(copy.c_str(), nullptr);
  }
  if (std::isinf(value)) return std::nullopt;
  return value;
}
template std::optional<float> csv_number<float>(std::string_view text);
template std::optional<double> csv_number<double>(std::string_view text);

bool has_only_digits(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && digits_at(text, 0) == text.size();
}

bool holds_if_integer(DType dtype, std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  // All integers of so few digits are values of the narrowest float.
  if (digits.size() <= 2 || digits_at(digits, 0) != digits.size()) return true;
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return holds_integer(dtype, value);
  // Beyond int64: whether the nearest value of the dtype has the same digits.
  std::optional<double> nearest = csv_number<double>(text);
  if (nearest && dtype == DType::Float32) nearest = csv_number<float>(text);
  if (!nearest) return false;
  Tensor held = Tensor::empty(dtype, {});
  held.set_double(0, *nearest);
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  return fmt::format("{:.0f}", std::abs(held.get_double(0))) == digits.substr(first);
}

std::string_view number_text(std::string_view cell, char decimal, std::string& buffer) {
  const std::string_view text = without_plus(cell);
  if (decimal == '.') return text;
  if (text.find('.') != text.npos) return {};
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return text;
  buffer = text;
  buffer[comma] = '.';
  return buffer;
}

NumberElsewhere number_elsewhere(std::string_view cell) {
  const std::string_view text = without_plus(cell);
  NumberElsewhere found;
  std::string buffer;
  const std::string_view with_point = number_text(text, ',', buffer);
  if (text.find(',') != text.npos && csv_number<double>(with_point)) found.with_comma = with_point;
  // A blank, also the two that typesetters use, and the mark of Switzerland, go with either decimal sign.
  constexpr std::string_view blanks_and_mark[] = {" ", "\xC2\xA0", "\xE2\x80\xAF", "'"};
  found.grouped = without_groups(text, ",", '.');
  const bool comma_last = text.rfind(',') != text.npos;
  if (found.grouped.empty() && comma_last) found.grouped = without_groups(text, ".", ',');
  for (const std::string_view group : blanks_and_mark)
    if (found.grouped.empty()) found.grouped = without_groups(text, group, comma_last ? ',' : '.');
  return found;
}

std::string advice_on_number(std::string_view cell, char decimal) {
  const NumberElsewhere found = number_elsewhere(cell);
  const bool comma = decimal == ',';
  const auto as_here = [&](std::string text) {
    if (comma) std::replace(text.begin(), text.end(), '.', ',');
    return text;
  };
  if (comma && csv_number<double>(without_plus(cell))) {
    const std::string grouped = without_groups(without_plus(cell), ".", ',');
    return fmt::format(
        " has a point among numbers with a decimal comma; write {}{}",
        as_here(std::string(without_plus(cell))),
        grouped.empty() ? "" : fmt::format(", or {} where it separates thousands", as_here(grouped)));
  }
  if (!comma && !found.with_comma.empty() && !found.grouped.empty()) {
    return fmt::format(
        " is {} with a separator of thousands, or {} with a decimal comma; write {}, or decimal=\",\"",
        found.grouped, found.with_comma, found.grouped);
  }
  if (!comma && !found.with_comma.empty()) return " has a decimal comma; decimal=\",\" reads it";
  if (!found.grouped.empty()) {
    return fmt::format(" has separators of thousands; write {}", as_here(found.grouped));
  }
  return {};
}

}  // namespace relish
