// Both end in the specifications of format_spec.h.
#include "shell/script/text_formats.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "shell/script/characters.h"
#include "shell/script/format_spec.h"
#include "shell/script/indexing.h"
#include "shell/script/numbers.h"
#include "support/render.h"

namespace relish {
namespace {

[[noreturn]] void bad_format(Span span, std::string message) {
  fail(ErrorClass::Type, span, "script.format", std::move(message));
}

// --- "%5.2f of %s" % values.

class PercentFormat {
 public:
  PercentFormat(std::string_view text, const ScriptValue& values, Span span)
      : text_(text), values_(values), span_(span) {
    if (const ScriptList* list = values.sequence(); list && list->tuple) tuple_ = list;
  }

  std::string format() {
    while (at_ < text_.size()) {
      if (text_[at_] != '%') {
        result_ += text_[at_++];
      } else {
        ++at_;
        field();
      }
    }
    const bool unused = tuple_ ? next_ < tuple_->items.size() : next_ == 0 && !values_.dictionary();
    if (unused) bad_format(span_, "found more values than the format has places");
    return std::move(result_);
  }

 private:
  struct Flags {
    bool left = false, zero = false, alternate = false;
    char sign = 0;
  };

  const ScriptValue& take() {
    const std::size_t i = next_++;
    if (tuple_ ? i >= tuple_->items.size() : i > 0)
      bad_format(span_, "found fewer values than the format has places");
    return tuple_ ? tuple_->items[i] : values_;
  }

  std::optional<std::int64_t> number() {
    if (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      const auto* given = take().as<std::int64_t>();
      if (!given) bad_format(span_, "'*' in a format takes an int");
      return *given;
    }
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && is_decimal(text_[at_]) && value < 1'000'000; ++at_)
      value = value * 10 + (text_[at_] - '0');
    return at_ > begin ? std::optional(value) : std::nullopt;
  }

  void field() {
    const ScriptValue* named = nullptr;
    if (at_ < text_.size() && text_[at_] == '(') {
      const std::size_t end = text_.find(')', at_);
      if (end == std::string_view::npos) bad_format(span_, "found '%(' without ')'");
      if (!values_.dictionary()) bad_format(span_, "found '%(name)'; expected a dict behind '%'");
      const std::string key(text_.substr(at_ + 1, end - at_ - 1));
      named = values_.find(key);
      if (!named)
        fail(ErrorClass::Runtime, span_, "script.key",
             fmt::format("the dict has no key '{}'", printable(key)));
      at_ = end + 1;
    }
    Flags flags;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '-') {
        flags.left = true;
      } else if (c == '0') {
        flags.zero = true;
      } else if (c == '#') {
        flags.alternate = true;
      } else if (c == '+' || c == ' ') {
        flags.sign = flags.sign == '+' ? '+' : c;
      } else {
        break;
      }
    }
    std::int64_t width = number().value_or(0);
    if (width < 0) {
      flags.left = true;
      width = -width;
    }
    std::optional<std::int64_t> precision;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      precision = std::max<std::int64_t>(number().value_or(0), 0);
    }
    while (at_ < text_.size() && std::string_view("hlL").find(text_[at_]) != std::string_view::npos) ++at_;
    if (at_ >= text_.size()) bad_format(span_, "found '%' at the end of the format");
    const char kind = text_[at_++];
    if (kind == '%') {
      result_ += '%';
      return;
    }
    const ScriptValue& value = named ? *named : take();
    const std::string field = fmt::format("{}{}", flags.left ? '<' : '>', width);
    const std::string dot = precision ? "." + std::to_string(*precision) : "";
    switch (kind) {
      case 's':
      case 'r':
      case 'a':
        result_ += format_with_spec(converted_text(value, kind), field + dot, span_);
        return;
      case 'c':
        result_ += format_with_spec(character(value), field, span_);
        return;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        result_ += whole(value, kind, flags, width, precision.value_or(0));
        return;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        if (!value.is_number() && !value.tensor())
          bad_format(span_, fmt::format("'%{}' takes a number, found {}", kind, describe(value)));
        const auto real = real_of(value);
        std::string spec = flags.left ? "<" : flags.zero ? "" : ">";
        if (flags.sign) spec += flags.sign;
        if (flags.alternate) spec += '#';
        if (flags.zero && !flags.left) spec += '0';
        if (width > 0) spec += std::to_string(width);
        result_ += format_with_spec(real ? ScriptValue(*real) : value, spec + dot + kind, span_);
        return;
      }
      default:
        bad_format(span_, fmt::format("found '%{}' in a format; expected one of d i o x X e f g c r s %",
                                      printable(std::string(1, kind))));
    }
  }

  std::string character(const ScriptValue& value) {
    if (value.string() && count_characters(*value.string()) == 1) return *value.string();
    if (const auto code = value.is_number() ? integer_of(value) : std::nullopt)
      return format_with_spec(ScriptValue(*code), "c", span_);
    bad_format(span_, fmt::format("'%c' takes one character or its number, found {}", describe(value)));
  }

  // An int, or for %d a float cut to one. A precision is a count of digits; zeros that fill the field stand
  // behind the sign and the prefix.
  std::string whole(const ScriptValue& value, char kind, const Flags& flags, std::int64_t width,
                    std::int64_t precision) {
    const bool decimal = kind == 'd' || kind == 'i' || kind == 'u';
    ScriptValue number = value;
    if (const auto* real = value.as<double>(); real && decimal)
      number = truncate_to_int(std::trunc(*real), span_);
    if (!integer_of(number) && !number.tensor())
      bad_format(span_, fmt::format("'%{}' takes an int, found {}", kind, describe(value)));
    if (precision > 10000 || width > 10000) bad_format(span_, "found a field of more than 10000 characters");
    const std::string type(1, decimal ? 'd' : kind);
    std::string digits = format_with_spec(number, type, span_);
    std::string front;
    if (digits.starts_with('-')) {
      front = "-";
      digits.erase(0, 1);
    } else if (flags.sign) {
      front = flags.sign;
    }
    if (flags.alternate && !decimal) front += "0" + type;
    const auto fill = [&](std::int64_t least) {
      if (static_cast<std::size_t>(least) > digits.size())
        digits.insert(0, static_cast<std::size_t>(least) - digits.size(), '0');
    };
    fill(precision);
    if (flags.zero && !flags.left)
      fill(std::max<std::int64_t>(width - static_cast<std::int64_t>(front.size()), 0));
    const std::string body = front + digits;
    const std::string blanks(
        static_cast<std::size_t>(width) > body.size() ? static_cast<std::size_t>(width) - body.size() : 0,
        ' ');
    return flags.left ? body + blanks : blanks + body;
  }

  std::string_view text_;
  const ScriptValue& values_;
  const ScriptList* tuple_ = nullptr;
  Span span_;
  std::size_t at_ = 0, next_ = 0;
  std::string result_;
};

// --- "{} of {name:>{width}}".format(…).

class BraceFormat {
 public:
  BraceFormat(const std::vector<NamedValue>& values, const std::vector<NamedValue>& names, Span span)
      : values_(values), names_(names), span_(span) {}

  std::string format(std::string_view text, int depth) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c && depth == 0) {
        result += c;
        at += 2;
      } else if (c == '}') {
        bad_format(span_, "found '}' in a format; expected '}}' or a field before it");
      } else if (c == '{') {
        const std::size_t end = end_of_field(text, at + 1);
        result += field(text.substr(at + 1, end - at - 1), depth);
        at = end + 1;
      } else {
        result += c;
        ++at;
      }
    }
    return result;
  }

 private:
  std::size_t end_of_field(std::string_view text, std::size_t at) {
    int open = 0;
    for (; at < text.size(); ++at) {
      if (text[at] == '{') ++open;
      if (text[at] == '}' && open-- == 0) return at;
    }
    bad_format(span_, "found '{' in a format that is never closed; expected '}'");
  }

  std::string field(std::string_view text, int depth) {
    if (depth > 1) bad_format(span_, "found fields nested too deeply in a format");
    const std::size_t name_end = std::min(text.find_first_of("!:["), text.size());
    std::string_view name = text.substr(0, name_end);
    std::size_t at = name_end;
    ScriptValue value = value_of(name);
    while (at < text.size() && text[at] == '[') {
      const std::size_t end = text.find(']', at);
      if (end == std::string_view::npos) bad_format(span_, "found '[' in a format without ']'");
      const std::string key(text.substr(at + 1, end - at - 1));
      const bool number = !key.empty() && std::all_of(key.begin(), key.end(), is_decimal) && key.size() < 18;
      value = subscript(
          value,
          {{number ? ScriptValue(static_cast<std::int64_t>(std::stoll(key))) : ScriptValue(key), span_}},
          span_);
      at = end + 1;
    }
    if (at < text.size() && text[at] == '!') {
      const char conversion = at + 1 < text.size() ? text[at + 1] : 0;
      if (conversion != 'r' && conversion != 's' && conversion != 'a')
        bad_format(span_, "found an unknown conversion in a format; expected '!r', '!s' or '!a'");
      value = converted_text(value, conversion);
      at += 2;
    }
    std::string spec;
    if (at < text.size()) {
      if (text[at] != ':')
        bad_format(span_, "found more in a field than its name, '!r' and ':' with a format");
      spec = format(text.substr(at + 1), depth + 1);
    }
    return format_with_spec(value, spec, span_);
  }

  ScriptValue value_of(std::string_view name) {
    const bool by_place = name.empty() || std::all_of(name.begin(), name.end(), is_decimal);
    if (!by_place) {
      for (const NamedValue& named : names_)
        if (named.name == name) return named.value;
      if (name.find('.') != std::string_view::npos)
        bad_format(span_, "found '.' in a field of a format; expected a name, a number or an f-string");
      fail(ErrorClass::Runtime, span_, "script.key",
           fmt::format("the format names '{}', which is not given", printable(name)));
    }
    if (name.empty() ? by_number_ : next_ > 0)
      bad_format(span_, "found numbered and plain fields in one format; expected one kind");
    std::size_t place = next_;
    if (name.empty()) {
      ++next_;
    } else {
      by_number_ = true;
      std::from_chars(name.data(), name.data() + name.size(), place);
    }
    if (place >= values_.size()) {
      fail(ErrorClass::Runtime, span_, "script.index_range",
           fmt::format("the format has a field {}, but {} values are given", place, values_.size()));
    }
    return values_[place].value;
  }

  const std::vector<NamedValue>& values_;
  const std::vector<NamedValue>& names_;
  Span span_;
  std::size_t next_ = 0;
  bool by_number_ = false;
};

}  // namespace

std::string format_by_percent(const std::string& text, const ScriptValue& values, Span span) {
  return PercentFormat(text, values, span).format();
}

std::string format_by_braces(const std::string& text, const std::vector<NamedValue>& values,
                             const std::vector<NamedValue>& names, Span span) {
  return BraceFormat(values, names, span).format(text, 0);
}

std::string converted_text(const ScriptValue& value, char conversion) {
  if (conversion == 's') return written_text(value);
  std::string text = quoted_text_of(value);
  if (conversion != 'a') return text;
  std::string ascii;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = next_character(text, at);
    const std::uint32_t code = code_point(std::string_view(text).substr(at, next - at));
    ascii += code < 0x80 ? std::string(1, text[at]) : escape_of(code);
    at = next;
  }
  return ascii;
}

}  // namespace relish
