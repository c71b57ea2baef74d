// Reading of "name" and "name(option=value, ...)" as given to --loss and --optimizer. Values are numbers,
// quoted or bare strings, true/false/none in Python's or lower-case spelling, or tuples of these in
// parentheses.
#include <fmt/format.h>

#include <charconv>

#include "support/failure.h"
#include "support/render.h"
#include "transform/append_loss.h"

namespace relish {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

// The place of the first comma outside parentheses, or npos.
std::size_t next_comma(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return std::string_view::npos;
}

Attribute read_plain_value(std::string_view text, std::string_view whole) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  if (text == "None" || text == "none") return {};
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return std::string(text.substr(1, text.size() - 2));
  std::int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (auto [stop, error] = std::from_chars(text.data(), end, integer); error == std::errc() && stop == end)
    return integer;
  double real = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, real); error == std::errc() && stop == end)
    return real;
  if (is_name(text)) return std::string(text);
  fail(ErrorClass::Usage, {}, "spec.value",
       fmt::format("'{}' in '{}' is no value; expected a number, a string, True, False or None",
                   printable(text), printable(whole)));
}

// A plain value, or a tuple of plain values.
Attribute read_value(std::string_view text, std::string_view whole) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return read_plain_value(text, whole);
  AttributeList list;
  for (std::string_view inside = trimmed(text.substr(1, text.size() - 2)); !inside.empty();) {
    const std::size_t comma = inside.find(',');
    list.push_back(read_plain_value(trimmed(inside.substr(0, comma)), whole));
    inside = comma == std::string_view::npos ? std::string_view() : trimmed(inside.substr(comma + 1));
  }
  return list;
}

}  // namespace

NamedSpec parse_named_spec(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const auto malformed = [&](std::string_view expected) {
    fail(ErrorClass::Usage, {}, "spec.form",
         fmt::format("'{}' is malformed; expected {}", printable(whole), expected));
  };
  NamedSpec spec;
  const std::size_t open = whole.find('(');
  const std::string_view name = trimmed(whole.substr(0, open));
  if (!is_name(name)) malformed("NAME or NAME(option=value, ...)");
  spec.name = std::string(name);
  if (open == std::string_view::npos) return spec;
  if (whole.back() != ')') malformed("a closing ')' at the end");
  std::string_view inside = trimmed(whole.substr(open + 1, whole.size() - open - 2));
  while (!inside.empty()) {
    const std::size_t comma = next_comma(inside);
    const std::string_view item = trimmed(inside.substr(0, comma));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) malformed("option=value between the parentheses");
    const std::string_view option = trimmed(item.substr(0, equals));
    if (!is_name(option)) malformed("an option's name before '='");
    if (find_attribute(spec.options, option))
      fail(ErrorClass::Usage, {}, "spec.repeated",
           fmt::format("option '{}' is given twice in '{}'", option, printable(whole)));
    spec.options.emplace_back(std::string(option), read_value(trimmed(item.substr(equals + 1)), whole));
    inside = comma == std::string_view::npos ? std::string_view() : trimmed(inside.substr(comma + 1));
  }
  return spec;
}

}  // namespace relish
