// Reading of number and string literals. Numbers go through from_chars, so that no locale and no rounding
// differs.
#include "frontend/text/literals.h"
#include "support/fix.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

Span part(Span span, std::size_t begin, std::size_t end) {
  return {span.file, static_cast<std::uint32_t>(span.begin + begin),
          static_cast<std::uint32_t>(span.begin + end)};
}

constexpr std::uint64_t largest_magnitude = std::uint64_t{1} << 63;

std::nullopt_t too_large(std::string_view text, Span span, Diagnostics& diagnostics) {
  diagnostics.error(ErrorClass::Syntax, span, "literal.integer",
                    fmt::format("found the integer {}, which does not fit int64", printable(text, 40)));
  return std::nullopt;
}

// Encodes a code point; surrogates and what lies beyond Unicode are refused.
bool append_code_point(std::string& out, std::uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
  return true;
}

// Walks the contents of a string token (between the quotes).
class StringReader {
 public:
  StringReader(std::string_view token, Span span, Diagnostics& diagnostics)
      : token_(token), span_(span), diagnostics_(diagnostics) {}

  std::optional<StringToken> read();

 private:
  bool read_escape();
  bool read_hex(std::size_t digits);
  bool read_field();
  bool read_spec(StringField& field);
  bool is_echo(std::size_t at) const;
  std::nullopt_t error(std::size_t begin, std::size_t end, std::string message) {
    diagnostics_.error(ErrorClass::Syntax, part(span_, begin, end), "literal.string", std::move(message));
    return std::nullopt;
  }
  void flush() {
    if (text_.empty()) return;
    result_.pieces.push_back({std::move(text_), std::nullopt});
    text_.clear();
  }

  std::string_view token_;
  Span span_;
  Diagnostics& diagnostics_;
  StringToken result_;
  std::string text_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

std::optional<StringToken> StringReader::read() {
  bool raw = false, bytes = false;
  for (; token_[at_] != '"' && token_[at_] != '\''; ++at_) {
    char c = static_cast<char>(token_[at_] | 0x20);
    raw |= c == 'r';
    bytes |= c == 'b';
    result_.format |= c == 'f';
  }
  if (bytes) return error(0, at_ + 1, "found a bytes literal; expected a text string");
  std::size_t quotes =
      token_.size() - at_ >= 6 && token_[at_] == token_[at_ + 1] && token_[at_] == token_[at_ + 2] ? 3 : 1;
  at_ += quotes;
  end_ = token_.size() - quotes;
  while (at_ < end_) {
    char c = token_[at_];
    if (c == '\\' && !raw) {
      if (!read_escape()) return std::nullopt;
    } else if (result_.format && (c == '{' || c == '}')) {
      if (at_ + 1 < end_ && token_[at_ + 1] == c) {
        text_ += c;
        at_ += 2;
      } else if (c == '}') {
        return error(at_, at_ + 1, "found '}' in an f-string; expected '}}' or a field before it");
      } else if (!read_field()) {
        return std::nullopt;
      }
    } else if (c == '\r' && at_ + 1 < end_ && token_[at_ + 1] == '\n') {
      ++at_;  // line ends inside a string are one character whatever the file uses
    } else {
      text_ += c;
      ++at_;
    }
  }
  flush();
  if (result_.pieces.empty()) result_.pieces.push_back({});
  return std::move(result_);
}

bool StringReader::read_hex(std::size_t digits) {
  std::size_t begin = at_ - 2;
  std::uint32_t code = 0;
  if (at_ + digits > end_) {
    error(begin, end_,
          fmt::format("found an escape that is cut short; expected {} hexadecimal digits", digits));
    return false;
  }
  auto [stop, status] = std::from_chars(token_.data() + at_, token_.data() + at_ + digits, code, 16);
  if (status != std::errc() || stop != token_.data() + at_ + digits || !append_code_point(text_, code)) {
    error(begin, at_ + digits,
          fmt::format("found an escape that is no character; expected {} hexadecimal digits", digits));
    return false;
  }
  at_ += digits;
  return true;
}

bool StringReader::read_escape() {
  char c = token_[at_ + 1];
  at_ += 2;
  switch (c) {
    case '\n':
      return true;
    case '\r':
      if (at_ < end_ && token_[at_] == '\n') ++at_;
      return true;
    case '\\':
    case '\'':
    case '"':
      text_ += c;
      return true;
    case 'a':
      text_ += '\a';
      return true;
    case 'b':
      text_ += '\b';
      return true;
    case 'f':
      text_ += '\f';
      return true;
    case 'n':
      text_ += '\n';
      return true;
    case 'r':
      text_ += '\r';
      return true;
    case 't':
      text_ += '\t';
      return true;
    case 'v':
      text_ += '\v';
      return true;
    case 'x':
      return read_hex(2);
    case 'u':
      return read_hex(4);
    case 'U':
      return read_hex(8);
    case 'N':
      error(at_ - 2, at_, "found a character by its name; expected its number, such as '\\u2022'");
      return false;
    default:
      break;
  }
  if (c >= '0' && c <= '7') {
    std::uint32_t code = static_cast<std::uint32_t>(c - '0');
    for (int i = 0; i < 2 && at_ < end_ && token_[at_] >= '0' && token_[at_] <= '7'; ++i) {
      code = code * 8 + static_cast<std::uint32_t>(token_[at_++] - '0');
    }
    append_code_point(text_, code);
    return true;
  }
  // As in Python, an unknown escape stands for itself.
  text_ += '\\';
  at_ -= 1;
  return true;
}

// Whether the '=' at `at` is that of {x=}: behind the expression, and no part of an operator.
bool StringReader::is_echo(std::size_t at) const {
  if (token_[at] != '=' || std::string_view("=!<>").find(token_[at - 1]) != std::string_view::npos)
    return false;
  std::size_t next = at + 1;
  while (next < end_ && token_[next] == ' ') ++next;
  return next < end_ && (token_[next] == '}' || token_[next] == ':' ||
                         (token_[next] == '!' && next + 1 < end_ && token_[next + 1] != '='));
}

// Text and fields {expression!r} of a specification, up to its '}'.
bool StringReader::read_spec(StringField& field) {
  while (at_ < end_ && token_[at_] != '}') {
    std::size_t begin = at_;
    if (token_[at_] != '{') {
      while (at_ < end_ && token_[at_] != '}' && token_[at_] != '{') ++at_;
      std::string text(token_.substr(begin, at_ - begin));
      if (field.spec_fields.empty()) {
        field.spec = std::move(text);
      } else {
        field.spec_fields.push_back({std::move(text), 0, 0, 0});
      }
      continue;
    }
    StringField::Inner inner;
    inner.begin = ++at_;
    while (at_ < end_ && std::string_view("{}!:\"'\\").find(token_[at_]) == std::string_view::npos) ++at_;
    inner.end = at_;
    if (at_ + 2 < end_ && token_[at_] == '!' &&
        std::string_view("rsa").find(token_[at_ + 1]) != std::string_view::npos) {
      inner.conversion = token_[at_ + 1];
      at_ += 2;
    }
    const bool blank =
        token_.substr(inner.begin, inner.end - inner.begin).find_first_not_of(' ') == std::string_view::npos;
    if (at_ >= end_ || token_[at_] != '}' || blank) {
      error(begin, begin + 1,
            "found '{' inside a format specification without a plain expression and '}' behind it");
      return false;
    }
    ++at_;
    field.spec_fields.push_back(std::move(inner));
  }
  return true;
}

// {expression=!r:spec}; the expression ends at '=', ':', '!' or '}' outside of brackets and strings.
bool StringReader::read_field() {
  flush();
  std::size_t open = at_++;
  StringField field{at_, at_, {}, 0, {}};
  std::size_t depth = 0;
  char quote = 0;
  for (; at_ < end_; ++at_) {
    char c = token_[at_];
    if (quote) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
      --depth;
    } else if (depth == 0 && is_echo(at_)) {
      break;
    } else if (depth == 0 &&
               (c == '}' || c == ':' || (c == '!' && at_ + 1 < end_ && token_[at_ + 1] != '='))) {
      break;
    } else if (c == '\\') {
      error(at_, at_ + 1, "found '\\' in a field of an f-string");
      return false;
    }
  }
  field.end = at_;
  const bool echo = at_ < end_ && token_[at_] == '=';
  if (echo) {
    // As it is written, with its blanks.
    for (++at_; token_[at_] == ' ';) ++at_;
    text_ = std::string(token_.substr(field.begin, at_ - field.begin));
    flush();
  }
  if (at_ < end_ && token_[at_] == '!') {
    field.conversion = at_ + 1 < end_ ? token_[at_ + 1] : '\0';
    if (field.conversion != 'r' && field.conversion != 's' && field.conversion != 'a') {
      error(at_, at_ + 2, "found an unknown conversion in an f-string; expected '!r', '!s' or '!a'");
      return false;
    }
    at_ += 2;
  }
  if (at_ < end_ && token_[at_] == ':') {
    ++at_;
    if (!read_spec(field)) return false;
  } else if (echo && field.conversion == 0) {
    field.conversion = 'r';
  }
  if (at_ >= end_ || token_[at_] != '}') {
    error(open, open + 1, "found '{' that is never closed in an f-string; expected '}'");
    return false;
  }
  bool blank = true;
  for (std::size_t i = field.begin; i < field.end; ++i) blank &= token_[i] == ' ';
  if (blank) {
    error(open, at_ + 1, "found an empty field in an f-string; expected an expression");
    return false;
  }
  ++at_;
  result_.pieces.push_back({{}, std::move(field)});
  return true;
}

}  // namespace

std::optional<NumberText> read_number(std::string_view text, Span span, Diagnostics& diagnostics) {
  std::string digits;
  digits.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_') {
      bool between = i > 0 && i + 1 < text.size() && text[i - 1] != '_' && text[i + 1] != '_' &&
                     text[i - 1] != '.' && text[i + 1] != '.';
      if (!between) {
        diagnostics.error(ErrorClass::Syntax, span, "literal.number",
                          "found '_' that does not separate two digits");
        return std::nullopt;
      }
      continue;
    }
    digits += text[i];
  }
  if (digits.size() > limits().max_integer_digits) {
    diagnostics.error(ErrorClass::ResourceLimit, span, "limit.digits",
                      fmt::format("found a number of {} characters; expected at most {}, raise --max-digits",
                                  digits.size(), limits().max_integer_digits));
    return std::nullopt;
  }
  NumberText number;
  int base = 10;
  std::size_t skip = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : kind == 'o' ? 8 : 10;
    skip = base == 10 ? 0 : 2;
  }
  bool real = base == 10 && digits.find_first_of(".eE") != std::string::npos;
  const char* begin = digits.data() + skip;
  const char* end = digits.data() + digits.size();
  if (real) {
    number.integer = false;
    auto [stop, status] = std::from_chars(begin, end, number.real);
    if (stop != end) {
      diagnostics.error(ErrorClass::Syntax, span, "literal.number",
                        fmt::format("found '{}', which is no number", printable(text, 40)));
      return std::nullopt;
    }
    // from_chars reports overflow and underflow alike; what is tiny is zero as in Python.
    if (status == std::errc::result_out_of_range) number.real = std::strtod(digits.c_str(), nullptr);
    if (!std::isfinite(number.real)) {
      diagnostics.error(ErrorClass::Syntax, span, "literal.float",
                        fmt::format("found the number {}, which overflows float64; write float(\"inf\") or "
                                    "T.float32(\"inf\")",
                                    printable(text, 40)));
      return std::nullopt;
    }
    return number;
  }
  if (base == 10 && digits.size() > 1 && digits[0] == '0' &&
      digits.find_first_not_of('0') != std::string::npos) {
    diagnostics
        .error(ErrorClass::Syntax, span, "literal.integer",
               fmt::format("found the integer {} with leading zeros; expected none", printable(text, 40)))
        .notes.push_back(write_here(span, text.substr(std::min(text.find_first_not_of("0_"), text.size()))));
    return std::nullopt;
  }
  auto [stop, status] = std::from_chars(begin, end, number.magnitude, base);
  if (status == std::errc() && stop != end) {
    diagnostics.error(ErrorClass::Syntax, span, "literal.number",
                      fmt::format("found '{}', which is no number", printable(text, 40)));
    return std::nullopt;
  }
  if (status != std::errc()) return too_large(text, span, diagnostics);
  return number;
}

std::optional<ast::NumberListValue> read_number_list(std::string_view text, Span span,
                                                     Diagnostics& diagnostics) {
  ast::NumberListValue list;
  list.tuple = text.front() == '(';
  bool real = text.find_first_of(".eE") != std::string_view::npos;
  std::size_t at = 1;
  while (true) {
    at = text.find_first_not_of(" \t\r\n,", at);
    if (at == std::string_view::npos || at + 1 == text.size()) break;
    std::size_t begin = at;
    bool negative = text[at] == '-';
    if (negative || text[at] == '+') ++at;
    std::size_t end = text.find_first_of(" \t\r\n,])", at);
    std::string_view digits = text.substr(at, end - at);
    Span place = part(span, begin, end);
    auto number = read_number(digits, place, diagnostics);
    if (!number) return std::nullopt;
    if (number->integer && number->magnitude > largest_magnitude - (negative ? 0 : 1)) {
      return too_large(digits, place, diagnostics);
    }
    if (real) {
      double value = number->integer ? static_cast<double>(number->magnitude) : number->real;
      if (number->integer) {
        list.integers_among.emplace_back(
            list.reals.size(),
            static_cast<std::int64_t>(negative ? 0 - number->magnitude : number->magnitude));
      }
      list.reals.push_back(negative ? -value : value);
    } else {
      list.integers.push_back(
          static_cast<std::int64_t>(negative ? 0 - number->magnitude : number->magnitude));
    }
    at = end;
  }
  return list;
}

std::optional<StringToken> read_string(std::string_view token, Span span, Diagnostics& diagnostics) {
  return StringReader(token, span, diagnostics).read();
}

}  // namespace relish
