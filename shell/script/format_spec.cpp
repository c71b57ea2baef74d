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

// A field wider than this is refused: the text would only be blanks.
constexpr int widest_field = 10000;
constexpr int most_digits = 400;

struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // '<', '>', '^', '=' or 0 by kind
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  int width = 0;
  char grouping = 0;  // ',' or '_'
  std::optional<int> precision;
  char type = 0;
};

[[noreturn]] void bad_spec(std::string_view spec, Span span) {
  fail(ErrorClass::Syntax, span, "script.format",
       fmt::format("found the format '{}'; expected [[fill]align][sign][0][width][,][.precision][type]",
                   printable(spec)));
}

bool is_alignment(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

std::optional<int> take_number(std::string_view& rest, int most) {
  int number = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (end == rest.data()) return std::nullopt;
  if (error != std::errc{} || number > most || rest.front() == '-') return -1;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

FormatSpec parse_spec(std::string_view spec, Span span) {
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
  if (rest.size() > fill_bytes && is_alignment(rest[fill_bytes])) {
    result.fill = std::string(rest.substr(0, fill_bytes));
    result.align = rest[fill_bytes];
    rest.remove_prefix(fill_bytes + 1);
  } else {
    result.align = take("<>^=");
  }
  if (char sign = take("+- ")) result.sign = sign;
  result.alternate = take("#") != 0;
  if (take("0")) {
    result.zero = true;
    if (result.align == 0) {
      result.fill = "0";
      result.align = '=';
    }
  }
  if (auto width = take_number(rest, widest_field)) {
    if (*width < 0) bad_spec(spec, span);
    result.width = *width;
  }
  result.grouping = take(",_");
  if (take(".")) {
    result.precision = take_number(rest, most_digits);
    if (!result.precision || *result.precision < 0) bad_spec(spec, span);
  }
  result.type = take("bcdoxXeEfFgGs%n");
  if (!rest.empty()) bad_spec(spec, span);
  const bool other_base =
      result.type != 0 && std::string_view("boxX").find(result.type) != std::string_view::npos;
  if (result.grouping == ',' && other_base) {
    fail(ErrorClass::Syntax, span, "script.format",
         fmt::format("found ',' with the format type '{0}'; expected '_{0}'", result.type));
  }
  return result;
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

// '#': the point is always written, and of 'g' the zeros behind it.
std::string with_point(const FormatSpec& spec, std::string body, double magnitude) {
  if (spec.type == 'g' || spec.type == 'G') {
    const int precision = std::max(spec.precision.value_or(6), 1);
    const std::string scientific = digits_of(magnitude, std::chars_format::scientific, precision - 1);
    const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
    body = exponent < -4 || exponent >= precision
               ? scientific
               : digits_of(magnitude, std::chars_format::fixed, precision - 1 - exponent);
  }
  const std::size_t end = std::min(body.find('e'), body.size());
  if (body.find('.') == std::string::npos) body.insert(end, ".");
  return body;
}

// `shortest`: the value as it is written where the format says nothing of its digits.
std::string format_real(const FormatSpec& spec, double value, std::string_view shortest) {
  bool negative = std::signbit(value) && !std::isnan(value);
  double magnitude = std::fabs(value);
  std::string body;
  bool percent = spec.type == '%';
  if (percent) magnitude *= 100;
  if (!std::isfinite(magnitude)) {
    body = std::isnan(magnitude) ? "nan" : "inf";
  } else if (spec.type == 'f' || spec.type == 'F' || percent) {
    body = digits_of(magnitude, std::chars_format::fixed, spec.precision.value_or(6));
  } else if (spec.type == 'e' || spec.type == 'E') {
    body = digits_of(magnitude, std::chars_format::scientific, spec.precision.value_or(6));
  } else if (spec.type == 'g' || spec.type == 'G' || spec.type == 'n' || spec.precision) {
    body = digits_of(magnitude, std::chars_format::general, spec.precision.value_or(6));
    bool plain = body.find_first_of(".e") == std::string::npos;
    if (spec.type == 0 && plain) body += ".0";
  } else {
    body = shortest.substr(shortest.starts_with('-') ? 1 : 0);
  }
  if (spec.alternate && std::isfinite(magnitude)) body = with_point(spec, std::move(body), magnitude);
  if (spec.type == 'E' || spec.type == 'G' || spec.type == 'F') {
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

std::string format_with_spec(const ScriptValue& value, std::string_view spec_text, Span span) {
  if (spec_text.empty()) return written_text(value);
  FormatSpec spec = parse_spec(spec_text, span);
  ScriptValue number = value;
  if (const Tensor* tensor = value.tensor(); tensor && tensor->rank() == 0) {
    if (is_float(tensor->dtype())) {
      number = tensor->get_double(0);
    } else {
      number = tensor->get_int(0);
    }
  }
  if (number.is_number() && spec.type != 's') {
    bool integer_type = spec.type != 0 && std::string_view("bdoxX").find(spec.type) != std::string_view::npos;
    auto integer = integer_of(number);
    if (integer && (integer_type || (spec.type == 0 && !spec.precision) || spec.type == 'n')) {
      return format_integer(spec, *integer);
    }
    if (spec.type == 'c') return format_text(spec, character_of(number, span));
    if (!integer_type) return format_real(spec, *real_of(number), written_text(value));
    fail(ErrorClass::Type, span, "script.format",
         fmt::format("the format type '{}' takes an int, found a float", spec.type));
  }
  if (number.string() || number.as<bool>() || spec.type == 's') {
    if (spec.type != 0 && spec.type != 's') {
      fail(ErrorClass::Type, span, "script.format",
           fmt::format("the format type '{}' takes a number, found {}", spec.type, describe(value)));
    }
    return format_text(spec, text_of(number));
  }
  fail(ErrorClass::Type, span, "script.format",
       fmt::format("the format '{}' takes a number or a str, found {}", printable(spec_text),
                   describe(value)));
}

}  // namespace relish
