// A small reader of literals: no names, no operators, nothing evaluated.
#include "shell/program/literal_text.h"

#include <charconv>

#include "support/failure.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

class LiteralReader {
 public:
  LiteralReader(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  ScriptValue read_all() {
    ScriptValue value = read(0);
    skip_blanks();
    if (at_ != text_.size()) refuse();
    return value;
  }

 private:
  [[noreturn]] void refuse() const {
    fail(ErrorClass::Usage, {}, "option.value",
         fmt::format("{}: found '{}'; expected a literal such as 5, 2.5, [1, 2] or \"text\"", what_,
                     printable(text_)));
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  ScriptValue read(std::uint32_t depth) {
    if (depth > limits().max_nesting) {
      fail(ErrorClass::ResourceLimit, {}, "limit.nesting",
           fmt::format("{}: nested deeper than {}; raise --max-nesting", what_, limits().max_nesting));
    }
    skip_blanks();
    if (at_ >= text_.size()) refuse();
    char c = text_[at_];
    if (c == '[') return ScriptValue::list(read_items(']', depth).first);
    if (c == '(') {
      auto [items, comma] = read_items(')', depth);
      return items.size() == 1 && !comma ? items[0] : ScriptValue::tuple(std::move(items));
    }
    if (c == '"' || c == '\'') return read_string(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return read_word();
    return read_number();
  }

  // The items up to `close`, and whether a comma stood among them.
  std::pair<std::vector<ScriptValue>, bool> read_items(char close, std::uint32_t depth) {
    ++at_;
    std::vector<ScriptValue> items;
    bool comma = false;
    while (!take(close)) {
      if (!items.empty() && !comma_before_) refuse();
      items.push_back(read(depth + 1));
      comma_before_ = take(',');
      comma = comma || comma_before_;
    }
    // The bracket may itself stand inside a list.
    comma_before_ = false;
    return {std::move(items), comma};
  }

  ScriptValue read_string(char quote) {
    ++at_;
    std::string result;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        char c = text_[at_];
        result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      } else {
        result += text_[at_];
      }
      ++at_;
    }
    if (at_ >= text_.size()) refuse();
    ++at_;
    return result;
  }

  ScriptValue read_word() {
    std::size_t begin = at_;
    while (at_ < text_.size() &&
           ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z')))
      ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "True" || word == "true") return true;
    if (word == "False" || word == "false") return false;
    if (word == "None") return {};
    if (word == "inf" || word == "nan") {
      at_ = begin;
      return read_number();
    }
    refuse();
  }

  ScriptValue read_number() {
    if (at_ < text_.size() && text_[at_] == '+') ++at_;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    std::int64_t integer = 0;
    auto as_int = std::from_chars(begin, end, integer);
    bool plain = as_int.ptr != begin &&
                 (as_int.ptr == end || std::string_view(".eE").find(*as_int.ptr) == std::string_view::npos);
    if (plain) {
      if (as_int.ec != std::errc{}) refuse();
      at_ += static_cast<std::size_t>(as_int.ptr - begin);
      return integer;
    }
    double real = 0;
    auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc{}) refuse();
    at_ += static_cast<std::size_t>(as_real.ptr - begin);
    return real;
  }

  std::string_view text_;
  std::string_view what_;
  std::size_t at_ = 0;
  bool comma_before_ = false;
};

}  // namespace

ScriptValue parse_literal(std::string_view text, std::string_view what) {
  return LiteralReader(text, what).read_all();
}

ArgumentText parse_argument_text(std::string_view text, std::string_view what) {
  ArgumentText result;
  result.text = std::string(text);
  if (text.starts_with('@')) {
    result.kind = ArgumentText::File;
    result.text = std::string(text.substr(1));
    if (result.text.empty()) {
      fail(ErrorClass::Usage, {}, "option.value",
           fmt::format("{}: found '@'; expected @FILE or @FILE:ENTRY", what));
    }
    return result;
  }
  auto is_word = [&](std::string_view word) { return text == word || text == std::string(word) + "()"; };
  if (is_word("zeros")) result.kind = ArgumentText::Zeros;
  if (is_word("ones")) result.kind = ArgumentText::Ones;
  if (is_word("rand")) result.kind = ArgumentText::Rand;
  if (text.starts_with("rand(") && text.ends_with(")") && result.kind == ArgumentText::Literal) {
    result.kind = ArgumentText::Rand;
    std::string_view inside = text.substr(5, text.size() - 6);
    if (inside.starts_with("seed=")) inside.remove_prefix(5);
    std::uint64_t seed = 0;
    auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), seed);
    if (error != std::errc{} || end != inside.data() + inside.size()) {
      fail(ErrorClass::Usage, {}, "option.value",
           fmt::format("{}: found '{}'; expected rand(seed=NUMBER)", what, printable(text)));
    }
    result.seed = seed;
  }
  return result;
}

}  // namespace relish
