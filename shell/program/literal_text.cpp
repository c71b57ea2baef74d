// Literals and the words of arguments, of what support/value_text.h reads.
#include "shell/program/literal_text.h"

#include <algorithm>

namespace relish {
namespace {

using Kind = WrittenValue::Kind;

// The first part of the value that is no literal; null when all of it is one.
const WrittenValue* not_literal(const WrittenValue& value) {
  if (value.kind == Kind::Word || value.kind == Kind::Call || value.kind == Kind::Argument) return &value;
  for (const WrittenValue& item : value.items)
    if (const WrittenValue* found = not_literal(item)) return found;
  return nullptr;
}

// The seed of a key, which a script writes as key(SEED) too.
std::optional<std::uint64_t> seed_of_key(const ValueText& text, const WrittenValue& value) {
  if (value.kind != Kind::Call || value.text != "key") return std::nullopt;
  const bool one = value.items.size() == 1;
  const bool named = one && value.items[0].kind == Kind::Argument && value.items[0].text == "seed";
  const auto seed =
      one ? whole_number<std::uint64_t>(text.source(named ? value.items[0].items[0] : value.items[0]))
          : std::nullopt;
  if (!seed) text.refuse(value, "key(NUMBER)");
  return seed;
}

// The word of `rand` and the like, with its arguments when it is written as a call.
std::optional<ArgumentText::Kind> maker_of(const WrittenValue& value) {
  if (value.kind != Kind::Word && value.kind != Kind::Call) return std::nullopt;
  if (value.text == "rand") return ArgumentText::Rand;
  if (value.text == "zeros") return ArgumentText::Zeros;
  if (value.text == "ones") return ArgumentText::Ones;
  return std::nullopt;
}

}  // namespace

ScriptValue script_value_of(const ValueText& text, const WrittenValue& value) {
  if (auto constant = constant_as<ScriptValue>(value)) return std::move(*constant);
  if (value.kind != Kind::List && value.kind != Kind::Tuple && value.kind != Kind::Dict)
    return std::string(text.source(value));
  std::vector<ScriptValue> items;
  items.reserve(value.items.size());
  for (const WrittenValue& item : value.items) items.push_back(script_value_of(text, item));
  if (value.kind == Kind::List) return ScriptValue::list(std::move(items));
  if (value.kind == Kind::Tuple) return ScriptValue::tuple(std::move(items));
  std::vector<std::pair<ScriptValue, ScriptValue>> entries;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!items[i].string()) text.refuse(value.items[i], "a key as a string");
    entries.emplace_back(std::move(items[i]), std::move(items[i + 1]));
  }
  return ScriptValue::dict(std::move(entries));
}

ScriptValue parse_literal(std::string_view written, std::string_view what) {
  constexpr std::string_view expected = "a literal such as 5, 2.5, [1, 2] or \"text\"";
  ValueText text(written, what);
  const WrittenValue value = text.value(expected);
  if (const WrittenValue* other = not_literal(value)) text.refuse(*other, expected);
  return script_value_of(text, value);
}

ArgumentText parse_argument_text(std::string_view written, std::string_view what) {
  ArgumentText result;
  result.text = std::string(written);
  if (written.starts_with('@')) {
    result.kind = ArgumentText::File;
    result.text = std::string(written.substr(1));
    if (result.text.empty()) ValueText(written, what).refuse({.end = 1}, "@FILE or @FILE:ENTRY");
    return result;
  }
  // What begins as one of the words: a literal, which may be long, is read once, where it is used.
  const std::string_view word = without_blanks(written);
  const bool may_be = word.starts_with("rand") || word.starts_with("zeros") || word.starts_with("ones") ||
                      word.starts_with("key");
  if (!may_be) return result;
  ValueText text(written, what);
  const WrittenValue value = text.value("a value");
  if (const auto seed = seed_of_key(text, value)) {
    result.kind = ArgumentText::Key;
    result.seed = seed;
    return result;
  }
  const auto maker = maker_of(value);
  if (!maker) return result;
  result.kind = *maker;
  if (value.items.empty()) return result;
  if (*maker != ArgumentText::Rand) text.refuse(value.items[0], fmt::format("{}()", value.text));
  const WrittenValue& given = value.items[0];
  // A number alone would be a shape in a script.
  const bool named = given.kind == Kind::Argument && given.text == "seed";
  if (named) result.seed = whole_number<std::uint64_t>(text.source(given.items[0]));
  if (!result.seed || value.items.size() > 1) text.refuse(value, "rand(seed=NUMBER)");
  return result;
}

}  // namespace relish
