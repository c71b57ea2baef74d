// Parsing of format specifications and their application. Digits come from to_chars, so no locale has a say.
#include "shell/script/format_spec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "support/render.h"

namespace relish {
namespace {

// A field wider than this is refused: the text would only be blanks. So are more digits behind the point.
constexpr int widest_field = 10000;

struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // '<', '>', '^', '=' or 0 by kind
  char sign = 0;   // '+', '-', ' ' or 0: as '-'
  bool no_negative_zero = false;
  bool alternate = false;
  int width = 0;
  char grouping = 0;  // ',' or '_'
  std::optional<int> precision;
  char type = 0;
};

[[noreturn]] void bad_spec(std::string_view spec, Span span) {
  fail(ErrorClass::Syntax, span, "script.format",
       fmt::format("found the format '{}'; expected [[fill]align][sign][z][#][0][width][,][.precision][type]",
                   printable(spec)));
}

[[noreturn]] void unfit_spec(Span span, std::string message) {
  fail(ErrorClass::Type, span, "script.format", std::move(message));
}

bool is_alignment(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

bool one_of(char type, std::string_view types) {
  return type != 0 && types.find(type) != std::string_view::npos;
}

std::optional<int> take_number(std::string_view& rest, std::string_view what, Span span) {
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  if (digits == 0) return std::nullopt;
  int number = 0;
  const auto error = std::from_chars(rest.data(), rest.data() + digits, number).ec;
  if (error != std::errc{} || number > widest_field) {
    fail(ErrorClass::Syntax, span, "script.format",
         fmt::format("found the {} {} in a format; expected at most {}", what, rest.substr(0, digits),
                     widest_field));
  }
  rest.remove_prefix(digits);
  return number;
}

// What the kinds have in common; `kind` is the value's: 's' text, 'd' an int, 'f' a float. As in Python a 0
// before the width is the fill where none is written, and of numbers stands behind the sign unless an
// alignment is written.
FormatSpec parse_spec(std::string_view spec, char kind, Span span) {
  FormatSpec result;
  std::string_view rest = spec;
  auto take = [&](std::string_view any_of) -> char {
    if (rest.empty() || any_of.find(rest.front()) == std::string_view::npos) return 0;
    char c = rest.front();
    rest.remove_prefix(1);
    return c;
  };
  // The fill is one code point.
  std::size_t fill_bytes = 1;
  while (fill_bytes < rest.size() && (static_cast<unsigned char>(rest[fill_bytes]) & 0xC0) == 0x80)
    ++fill_bytes;
  const bool filled = rest.size() > fill_bytes && is_alignment(rest[fill_bytes]);
  if (filled) {
    result.fill = std::string(rest.substr(0, fill_bytes));
    result.align = rest[fill_bytes];
    rest.remove_prefix(fill_bytes + 1);
  } else {
    result.align = take("<>^=");
  }
  result.sign = take("+- ");
  result.no_negative_zero = take("z") != 0;
  result.alternate = take("#") != 0;
  if (!filled && take("0")) {
    result.fill = "0";
    if (result.align == 0 && kind != 's') result.align = '=';
  }
  result.width = take_number(rest, "width", span).value_or(0);
  result.grouping = take(",_");
  if (take(".")) {
    result.precision = take_number(rest, "precision", span);
    if (!result.precision) bad_spec(spec, span);
  }
  result.type = take("bcdoxXeEfFgGs%n");
  if (!rest.empty()) bad_spec(spec, span);
  return result;
}

// A type of the other kinds, and what a type does not go together with.
void check_spec(const FormatSpec& spec, char kind, std::string_view found, Span span) {
  const char type = spec.type;
  if (kind == 's' ? type != 0 && type != 's' : type == 's') {
    unfit_spec(
        span, fmt::format("the format type '{}' takes a {}, found {}{}", type, kind == 's' ? "number" : "str",
                          found, kind == 's' ? "" : "; write {x!s:…}"));
  }
  if (kind == 'f' && one_of(type, "bcdoxX"))
    unfit_spec(span, fmt::format("the format type '{}' takes an int, found {}", type, found));
  if (spec.grouping == ',' && one_of(type, "boxX")) {
    fail(ErrorClass::Syntax, span, "script.format",
         fmt::format("found ',' with the format type '{0}'; expected '_{0}'", type));
  }
  const bool text = kind == 's' || type == 'c';
  if (spec.grouping && (text || type == 'n')) {
    unfit_spec(span, fmt::format("found '{}' in a format{}; expected it in that of a number", spec.grouping,
                                 type == 'n' ? " of the type 'n'" : " of a str"));
  }
  const char* sign = spec.sign == '+'   ? "+"
                     : spec.sign == '-' ? "-"
                     : spec.sign        ? " "
                     : spec.alternate   ? "#"
                                        : nullptr;
  if (text && sign)
    unfit_spec(span, fmt::format("found '{}' in the format of a str; expected it in that of a number", sign));
  if (kind == 's' && spec.align == '=')
    unfit_spec(span, "found '=' in the format of a str; expected '<', '>' or '^'");
  const bool real = kind == 'f' || (kind == 'd' && one_of(type, "eEfFgG%"));
  if (spec.no_negative_zero && !real) {
    unfit_spec(span, fmt::format("found 'z' in the format of {}; expected it in that of a float", found));
  }
  if (kind == 'd' && !real && spec.precision) {
    unfit_spec(
        span,
        fmt::format("found the precision {0} in the format of an int; expected none, or .{0}f, .{0}e, .{0}g",
                    *spec.precision));
  }
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Pads `sign` + `body` to the width.
std::string pad(const FormatSpec& spec, const std::string& sign, const std::string& body,
                char natural_align) {
  std::size_t length = code_points(sign) + code_points(body);
  auto width = static_cast<std::size_t>(spec.width);
  if (length >= width) return sign + body;
  std::size_t missing = width - length;
  switch (spec.align ? spec.align : natural_align) {
    case '<':
      return sign + body + repeated(spec.fill, missing);
    case '^':
      return repeated(spec.fill, missing / 2) + sign + body + repeated(spec.fill, missing - missing / 2);
    case '=':
      return sign + repeated(spec.fill, missing) + body;
    default:
      return repeated(spec.fill, missing) + sign + body;
  }
}

// Groups the digits before a point or exponent: by three, those of other bases by four. Zeros that fill the
// field up to the width are digits too, `used` places of which are taken.
std::string grouped(const FormatSpec& spec, const std::string& digits, std::size_t used, std::size_t by) {
  std::size_t whole = 0;
  while (whole < digits.size() && (by == 4 ? std::isxdigit(static_cast<unsigned char>(digits[whole]))
                                           : std::isdigit(static_cast<unsigned char>(digits[whole]))))
    ++whole;
  if (whole == 0) return digits;  // inf, nan
  std::string front = digits.substr(0, whole);
  const bool filled = spec.fill == "0" && spec.align == '=';
  const std::size_t width = static_cast<std::size_t>(spec.width), rest = digits.size() - whole + used;
  while (filled && front.size() + (front.size() - 1) / by + rest < width) front.insert(front.begin(), '0');
  std::string result;
  for (std::size_t i = 0; i < front.size(); ++i) {
    if (i > 0 && (front.size() - i) % by == 0) result += spec.grouping;
    result += front[i];
  }
  return result + digits.substr(whole);
}

std::string sign_text(bool negative, char sign) {
  if (negative) return "-";
  if (sign == '+' || sign == ' ') return std::string(1, sign);
  return "";
}

std::string format_integer(const FormatSpec& spec, std::int64_t value) {
  std::uint64_t magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : spec.type == 'x' || spec.type == 'X' ? 16 : 10;
  char buffer[72];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr;
  std::string digits(buffer, end);
  if (spec.type == 'X') {
    for (char& c : digits) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  std::string sign = sign_text(value < 0, spec.sign);
  if (spec.alternate && base != 10) sign += std::string("0") + spec.type;
  if (spec.grouping) digits = grouped(spec, digits, sign.size(), base == 10 ? 3 : 4);
  return pad(spec, sign, digits, '>');
}

std::string digits_of(double magnitude, std::chars_format format, int precision) {
  std::string buffer(static_cast<std::size_t>(precision) + 400, '\0');
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, format, precision).ptr;
  return std::string(buffer.data(), end);
}

// The digits of 'g', with all that the precision counts (`zeros`) or without zeros at the end. A format
// without a type has digits behind the point or an exponent, so that one digit goes to the exponent's form
// sooner.
std::string general_digits(double magnitude, int precision, bool zeros, bool without_type) {
  precision = std::max(precision, 1);
  const std::string scientific = digits_of(magnitude, std::chars_format::scientific, precision - 1);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  const bool with_exponent = exponent < -4 || exponent >= precision - without_type;
  std::string body =
      with_exponent ? scientific : digits_of(magnitude, std::chars_format::fixed, precision - 1 - exponent);
  if (zeros) return body;
  const std::size_t end = std::min(body.find('e'), body.size());
  std::size_t keep = end;
  if (body.find('.') < end) {
    while (body[keep - 1] == '0') --keep;
    if (body[keep - 1] == '.') --keep;
  }
  body.erase(keep, end - keep);
  return body;
}

// `shortest`: the value as it is written where the format says nothing of its digits.
std::string format_real(const FormatSpec& spec, double value, std::string_view shortest) {
  bool negative = std::signbit(value) && !std::isnan(value);
  double magnitude = std::fabs(value);
  std::string body;
  const bool percent = spec.type == '%';
  if (percent) magnitude *= 100;
  if (!std::isfinite(magnitude)) {
    body = std::isnan(magnitude) ? "nan" : "inf";
  } else if (one_of(spec.type, "fF%")) {
    body = digits_of(magnitude, std::chars_format::fixed, spec.precision.value_or(6));
  } else if (one_of(spec.type, "eE")) {
    body = digits_of(magnitude, std::chars_format::scientific, spec.precision.value_or(6));
  } else if (spec.type != 0 || spec.precision) {
    body = general_digits(magnitude, spec.precision.value_or(6), spec.alternate, spec.type == 0);
    if (spec.type == 0 && body.find_first_of(".e") == std::string::npos) body += ".0";
  } else {
    body = shortest.substr(shortest.starts_with('-') ? 1 : 0);
  }
  // '#': the point is always written.
  if (spec.alternate && std::isfinite(magnitude) && body.find('.') == std::string::npos)
    body.insert(std::min(body.find('e'), body.size()), ".");
  if (spec.no_negative_zero && body.substr(0, body.find('e')).find_first_not_of("0.") == std::string::npos)
    negative = false;
  if (one_of(spec.type, "EGF")) {
    for (char& c : body) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const std::string sign = sign_text(negative, spec.sign);
  if (spec.grouping) body = grouped(spec, body, sign.size() + percent, 3);
  if (percent) body += '%';
  return pad(spec, sign, body, '>');
}

std::string format_text(const FormatSpec& spec, std::string text) {
  if (spec.precision) {
    std::size_t end = 0;
    for (int count = 0; end < text.size(); ++end) {
      bool starts = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
      if (starts && count++ == *spec.precision) break;
    }
    text.resize(end);
  }
  return pad(spec, "", text, '<');
}

// The character with that number.
std::string character_of(const ScriptValue& number, Span span) {
  const auto code = integer_of(number);
  if (!code || *code < 0 || *code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF)) {
    fail(ErrorClass::Type, span, "script.format",
         fmt::format("the format type 'c' takes the number of a character, found {}", text_of(number)));
  }
  return character_text(static_cast<std::uint32_t>(*code));
}

}  // namespace

std::string character_text(std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

std::string escape_of(std::uint32_t code) {
  return code < 0x100     ? fmt::format("\\x{:02x}", code)
         : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                          : fmt::format("\\U{:08x}", code);
}

std::string format_with_spec(const ScriptValue& value, std::string_view spec_text, Span span) {
  if (spec_text.empty()) return written_text(value);
  ScriptValue number = value;
  if (const Tensor* tensor = value.tensor(); tensor && tensor->rank() == 0) {
    if (is_float(tensor->dtype())) {
      number = tensor->get_double(0);
    } else {
      number = tensor->get_int(0);
    }
  }
  if (!number.is_number() && !number.string()) {
    const bool sequence = value.tensor() || value.sequence() || value.dictionary();
    unfit_spec(
        span, fmt::format("the format '{}' takes a number or a str, found {}; write {}", printable(spec_text),
                          describe(value), sequence ? "the format of each item, or {x!s:…}" : "{x!s:…}"));
  }
  const auto integer = number.is_number() ? integer_of(number) : std::nullopt;
  const char kind = number.string() ? 's' : integer ? 'd' : 'f';
  const FormatSpec spec = parse_spec(spec_text, kind, span);
  check_spec(spec, kind, describe(value), span);
  if (kind == 's') return format_text(spec, text_of(number));
  if (kind == 'f' || one_of(spec.type, "eEfFgG%"))
    return format_real(spec, *real_of(number), written_text(value));
  if (spec.type == 'c') return pad(spec, "", character_of(number, span), '>');
  return format_integer(spec, *integer);
}

}  // namespace relish
