// Reading of values outside of programs: no names are looked up, no operators, nothing is evaluated.
#include "support/value_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "support/failure.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::string_view blank_characters = " \t\r\n";
constexpr std::string_view ends_of_words = " \t\r\n,()[]{}=\"':";

bool is_one_of(char c, std::string_view characters) { return characters.find(c) != std::string_view::npos; }

// From `at` on up to what ends a word. A ':' is part of it (FILE:ENTRY) but before a blank, as in {"a": 1}.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const bool colon_within =
        text[at] == ':' && at + 1 < text.size() && !is_one_of(text[at + 1], ends_of_words);
    if (is_one_of(text[at], ends_of_words) && !colon_within) break;
    ++at;
  }
  return at;
}

// Whether the text of a number is that of a float: digits alone are an int, also where no int64 is so large,
// and a word such as "infinity" may be a name.
bool is_written_real(std::string_view word) {
  const bool begins_as_name = (word[0] | 0x20) >= 'a' && (word[0] | 0x20) <= 'z';
  return !begins_as_name && word.find_first_not_of("+-0123456789") != std::string_view::npos;
}

// Where the string that begins at `at` ends: behind its closing quote; npos when it has none.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == quote)
      return at + 1;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_outside(std::string_view text, std::string_view separators,
                                            bool with_brackets) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  std::size_t depth = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view part = without_blanks(text.substr(begin, end - begin));
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '"' || c == '\'') && end_of_string(text, i) != std::string_view::npos) {
      i = end_of_string(text, i) - 1;
    } else if (with_brackets && is_one_of(c, "([{")) {
      ++depth;
    } else if (with_brackets && is_one_of(c, ")]}")) {
      if (depth > 0) --depth;
    } else if (depth == 0 && is_one_of(c, separators)) {
      add(i);
    }
  }
  // A bracket that is never closed holds nothing together.
  if (depth > 0) return split_outside(text, separators, false);
  add(text.size());
  return parts;
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_one_of(text.front(), blank_characters)) text.remove_prefix(1);
  while (!text.empty() && is_one_of(text.back(), blank_characters)) text.remove_suffix(1);
  return text;
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

std::optional<double> real_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc{}) return value;
  // from_chars does not tell which end of the range was passed.
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  return split_outside(text, ",", true);
}
std::vector<std::string_view> split_at_blanks(std::string_view text) {
  return split_outside(text, blank_characters, true);
}

std::string without_quotes(std::string_view word) {
  const bool quoted =
      word.size() >= 2 && (word[0] == '"' || word[0] == '\'') && end_of_string(word, 0) == word.size();
  return quoted ? ValueText(word).value("a string").text : std::string(word);
}

WrittenValue ValueText::value(std::string_view expected) {
  expected_ = expected;
  WrittenValue result = read(0);
  skip_blanks();
  if (at_ != text_.size()) refuse_here("the end");
  return result;
}

std::vector<WrittenValue> ValueText::values(std::string_view expected) {
  expected_ = expected;
  std::vector<WrittenValue> result;
  skip_blanks();
  while (at_ != text_.size()) {
    result.push_back(read(0));
    skip_blanks();
    if (at_ == text_.size()) break;
    if (!take(',')) refuse_here("','");
    skip_blanks();
    if (at_ == text_.size()) refuse_here(expected_);
  }
  return result;
}

std::string_view ValueText::source(const WrittenValue& value) const {
  return text_.substr(value.begin, value.end - value.begin);
}

void ValueText::refuse(const WrittenValue& found, std::string_view expected) const {
  refuse_at(found.begin, source(found), expected);
}

void ValueText::refuse_here(std::string_view expected) const {
  std::size_t end = end_of_word(text_, at_);
  if (end == at_ && at_ < text_.size()) ++end;
  refuse_at(at_, text_.substr(at_, end - at_), expected);
}

void ValueText::refuse_at(std::size_t begin, std::string_view found, std::string_view expected) const {
  const std::string_view whole = without_blanks(text_);
  std::string place = fmt::format("'{}'", printable(found));
  if (begin >= text_.size() && !whole.empty())
    place = fmt::format("the end of '{}'", printable(whole));
  else if (found != whole)
    place += fmt::format(" at character {} of '{}'", begin + 1, printable(text_));
  fail(ErrorClass::Usage, {}, id_,
       fmt::format("{}{}found {}; expected {}", what_, what_.empty() ? "" : ": ", place, expected));
}

void ValueText::skip_blanks() {
  while (at_ < text_.size() && is_one_of(text_[at_], blank_characters)) ++at_;
}

bool ValueText::take(char c) {
  skip_blanks();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

WrittenValue ValueText::read(std::uint32_t depth) {
  const std::uint32_t deepest = deepest_ > 0 ? deepest_ : limits().max_nesting;
  if (depth > deepest) {
    fail(ErrorClass::ResourceLimit, {}, "limit.nesting",
         fmt::format("{}{}nested deeper than {}; raise --max-nesting", what_, what_.empty() ? "" : ": ",
                     deepest));
  }
  skip_blanks();
  if (at_ >= text_.size()) refuse_here(depth == 0 ? expected_ : "a value");
  const std::size_t begin = at_;
  const char c = text_[at_];
  WrittenValue result;
  if (c == '[') {
    result.kind = WrittenValue::Kind::List;
    read_items(']', depth, result.items);
  } else if (c == '(') {
    const bool comma = read_items(')', depth, result.items);
    if (result.items.size() == 1 && !comma) {
      // Not into itself: the item stands in what is assigned to.
      WrittenValue only = std::move(result.items[0]);
      result = std::move(only);
    } else {
      result.kind = WrittenValue::Kind::Tuple;
    }
  } else if (c == '{') {
    result.kind = WrittenValue::Kind::Dict;
    read_entries(depth, result.items);
  } else if (c == '"' || c == '\'') {
    result.kind = WrittenValue::Kind::String;
    result.text = read_string();
  } else {
    result = read_word(depth);
  }
  result.begin = begin;
  result.end = at_;
  return result;
}

// A constant, number, word, call or argument.
WrittenValue ValueText::read_word(std::uint32_t depth) {
  using Kind = WrittenValue::Kind;
  const std::size_t end = end_of_word(text_, at_);
  const std::string_view word = text_.substr(at_, end - at_);
  if (word.empty()) refuse_here(depth == 0 ? expected_ : "a value");
  WrittenValue result;
  if (word == "None") {
    at_ = end;
    return result;
  }
  const bool is_true = word == "True" || word == "true";
  if (is_true || word == "False" || word == "false") {
    result.kind = Kind::Bool;
    result.truth = is_true;
  } else if (const auto integer = whole_number<std::int64_t>(word)) {
    result.kind = Kind::Int;
    result.integer = *integer;
  } else if (const auto real = real_number(word);
             real && (is_written_real(word) || word == "inf" || word == "nan")) {
    result.kind = Kind::Real;
    result.real = *real;
  } else {
    result.kind = Kind::Word;
    result.text = word;
  }
  at_ = end;
  if (result.kind != Kind::Word) return result;
  skip_blanks();
  const char next = at_ < text_.size() ? text_[at_] : ' ';
  if (next == '(') {
    result.kind = Kind::Call;
    read_items(')', depth, result.items);
  } else if (next == '=') {
    ++at_;
    result.kind = Kind::Argument;
    result.items.push_back(read(depth + 1));
  } else {
    at_ = end;
  }
  return result;
}

// The items up to `close`; whether a comma stood among them.
bool ValueText::read_items(char close, std::uint32_t depth, std::vector<WrittenValue>& into) {
  ++at_;
  bool comma = false;
  while (!take(close)) {
    if (!into.empty()) {
      if (!take(',')) refuse_here(fmt::format("',' or '{}'", close));
      comma = true;
      if (take(close)) break;
    }
    skip_blanks();
    if (at_ >= text_.size()) refuse_here(fmt::format("a value or '{}'", close));
    into.push_back(read(depth + 1));
  }
  return comma;
}

void ValueText::read_entries(std::uint32_t depth, std::vector<WrittenValue>& into) {
  ++at_;
  while (!take('}')) {
    if (!into.empty()) {
      if (!take(',')) refuse_here("',' or '}'");
      if (take('}')) break;
    }
    skip_blanks();
    if (at_ >= text_.size()) refuse_here("\"key\": value or '}'");
    into.push_back(read(depth + 1));
    if (!take(':')) refuse_here("':' behind a key");
    into.push_back(read(depth + 1));
  }
}

std::string ValueText::read_string() {
  const std::size_t end = end_of_string(text_, at_);
  if (end == std::string_view::npos) refuse_at(at_, text_.substr(at_), "a closing quote");
  std::string result;
  for (std::size_t i = at_ + 1; i + 1 < end; ++i) {
    if (text_[i] != '\\') {
      result += text_[i];
      continue;
    }
    ++i;
    result += text_[i] == 'n' ? '\n' : text_[i] == 't' ? '\t' : text_[i];
  }
  at_ = end;
  return result;
}

}  // namespace relish
