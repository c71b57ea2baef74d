// Values as text outside of programs: behind an option, in a pipeline of passes, as NAME(option=value), in
// data. One syntax for all of them; what one place does not take of it, it refuses in the same words.
//
//   None True False   5 -2.5e3 inf nan   "text" 'text'   [1, 2]   (1, 2)   {"a": 1}   as in programs;
//   true false                           as shells and configuration files write them
//   word   data/w.npz   M.f              text without quotes, up to a blank, bracket, quote, comma or '='
//   name(value, option=value)            a call
//   name=value                           an argument; elsewhere the text NAME=VALUE
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// A number that is the whole text, with a sign or without one.
template <class Integer>
std::optional<Integer> whole_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}
// What is too near to 0 is 0; what is too large is no number.
std::optional<double> real_number(std::string_view text);

struct WrittenValue {
  enum class Kind : std::uint8_t {
    None,
    Bool,
    Int,
    Real,
    String,
    Word,
    List,
    Tuple,
    Dict,
    Call,
    Argument
  } kind = Kind::None;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;  // of a string without its quotes, of a word; the name of a call or argument
  // Items of a list or tuple; arguments of a call; the value of an argument; keys and values of a dict in
  // turn.
  std::vector<WrittenValue> items;
  std::size_t begin = 0, end = 0;  // its place in the whole text
};

// A constant as a value of another kind, which is made of a bool, an int64, a double or a string, and of
// nothing for None. Nothing of a word, a list or what else holds values.
template <class Value>
std::optional<Value> constant_as(const WrittenValue& written) {
  switch (written.kind) {
    case WrittenValue::Kind::None:
      return Value();
    case WrittenValue::Kind::Bool:
      return Value(written.truth);
    case WrittenValue::Kind::Int:
      return Value(written.integer);
    case WrittenValue::Kind::Real:
      return Value(written.real);
    case WrittenValue::Kind::String:
      return Value(written.text);
    case WrittenValue::Kind::Word:
    case WrittenValue::Kind::List:
    case WrittenValue::Kind::Tuple:
    case WrittenValue::Kind::Dict:
    case WrittenValue::Kind::Call:
    case WrittenValue::Kind::Argument:
      break;
  }
  return std::nullopt;
}

class ValueText {
 public:
  // `what` stands before the messages: "--arg x". It and the text must outlive the reader.
  // `deepest`: its limit of nesting; 0: that of the program's texts.
  explicit ValueText(std::string_view text, std::string_view what = "", std::string_view id = "option.value",
                     std::uint32_t deepest = 0)
      : text_(text), what_(what), id_(id), deepest_(deepest) {}

  // The one value that the text is. Throws as refuse(); `expected` is said where a value should begin and
  // none does. ResourceLimit beyond the limit of nesting.
  WrittenValue value(std::string_view expected);
  // Values between commas; none for an empty text.
  std::vector<WrittenValue> values(std::string_view expected);

  // The value as it is written.
  std::string_view source(const WrittenValue& value) const;
  // UsageError: what was found where in the text, and what was expected.
  [[noreturn]] void refuse(const WrittenValue& found, std::string_view expected) const;

 private:
  void skip_blanks();
  bool take(char c);
  [[noreturn]] void refuse_here(std::string_view expected) const;
  [[noreturn]] void refuse_at(std::size_t begin, std::string_view found, std::string_view expected) const;
  WrittenValue read(std::uint32_t depth);
  WrittenValue read_word(std::uint32_t depth);
  std::string read_string();
  bool read_items(char close, std::uint32_t depth, std::vector<WrittenValue>& into);
  void read_entries(std::uint32_t depth, std::vector<WrittenValue>& into);

  std::string_view text_, what_, id_;
  std::string_view expected_;  // where a value should begin
  std::size_t at_ = 0;
  std::uint32_t deepest_;
};

// A name as programs have them: letters, digits and '_', not beginning with a digit.
bool is_plain_name(std::string_view text);
std::string_view without_blanks(std::string_view text);

// The parts of a text between commas, or its words between blanks: not those within brackets or quotes, as
// far as these are closed. Parts are without blanks around them, and none is empty.
std::vector<std::string_view> split_at_commas(std::string_view text);
std::vector<std::string_view> split_at_blanks(std::string_view text);
// The text of a word that is a whole string; else the word as it is.
std::string without_quotes(std::string_view word);

}  // namespace relish
