// Values of script statements: Python's scalars and containers, run-time values of Relax programs, modules
// and references to their functions. All are immutable; containers are shared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/nodes/module.h"
#include "runtime/value.h"
#include "support/memory.h"

namespace relish {

class ScriptValue;
class DictIndex;
class UnreadValue;
struct ScriptFunction;

// A list, or a tuple when `tuple`.
struct ScriptList {
  std::vector<ScriptValue> items;
  bool tuple = false;
  std::uint32_t depth = 1;  // of nesting, itself included
  HeldMemory held = {};     // what the items take
};

// Containers nest at most so deep: text, comparison and destruction recurse.
inline constexpr std::uint32_t most_value_nesting = 1000;
// Items of a list, characters of a str: a script that would make more is stopped before the memory is full.
inline constexpr std::int64_t most_items = std::int64_t{1} << 24;
// ResourceLimit at `span` when a container of `count` items is too long.
void check_item_count(std::int64_t count, Span span);

// Keys in order of insertion; a key is a str, int, bool, float, None, or a tuple of these.
struct ScriptDict {
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  std::uint32_t depth = 1;
  HeldMemory held = {};
  mutable std::shared_ptr<const DictIndex> index = {};  // of the keys, once one was looked for: dict_index.h
};

// range(begin, end, step), not spelt out.
struct ScriptRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;

  // How many items: exactly, and as far as int64 counts.
  std::uint64_t count() const;
  std::int64_t size() const { return static_cast<std::int64_t>(std::min<std::uint64_t>(count(), INT64_MAX)); }
  // The last item of one that has some.
  std::int64_t last() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin) +
                                     (count() - 1) * static_cast<std::uint64_t>(step));
  }
  bool contains(std::int64_t number) const;
  // Of an index below size(): between the steps the sum may be beyond int64, at the end it is not.
  std::int64_t at(std::int64_t index) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin) +
                                     static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(step));
  }
};

// A function of a module value; the session's free functions are those of the module `Module`.
struct FunctionReference {
  ModulePtr module;
  std::string name;
};

// Of a restored session, in the names of a script and of states alone: who looks a name up gets the value
// (unread_value.h).
using UnreadValuePtr = std::shared_ptr<const UnreadValue>;

class ScriptValue {
 public:
  using Kind =
      std::variant<std::monostate, bool, std::int64_t, double, std::string, std::shared_ptr<const ScriptList>,
                   std::shared_ptr<const ScriptDict>, ScriptRange, Tensor, ShapeValue, ModulePtr,
                   FunctionReference, std::shared_ptr<const ObjectValue>,
                   std::shared_ptr<const ScriptFunction>, UnreadValuePtr>;

  ScriptValue() = default;  // None
  ScriptValue(bool v) : kind_(v) {}
  ScriptValue(int v) : kind_(static_cast<std::int64_t>(v)) {}
  ScriptValue(std::int64_t v) : kind_(v) {}
  ScriptValue(double v) : kind_(v) {}
  ScriptValue(const char* v) : kind_(std::string(v)) {}
  ScriptValue(std::string v) : kind_(std::move(v)) {}
  ScriptValue(Tensor v) : kind_(std::move(v)) {}
  ScriptValue(ShapeValue v) : kind_(std::move(v)) {}
  ScriptValue(ScriptRange v) : kind_(v) {}
  ScriptValue(ModulePtr v) : kind_(std::move(v)) {}
  ScriptValue(FunctionReference v) : kind_(std::move(v)) {}
  ScriptValue(std::shared_ptr<const ObjectValue> v) : kind_(std::move(v)) {}
  ScriptValue(std::shared_ptr<const ScriptFunction> v) : kind_(std::move(v)) {}
  ScriptValue(UnreadValuePtr v) : kind_(std::move(v)) {}
  static ScriptValue list(std::vector<ScriptValue> items);
  static ScriptValue tuple(std::vector<ScriptValue> items);
  static ScriptValue dict(std::vector<std::pair<ScriptValue, ScriptValue>> items);

  // Appends a str to this str, or the items of a list or tuple to this one, when nobody else holds this;
  // false, with nothing changed, when it cannot be done in place.
  bool append_in_place(const ScriptValue& other);
  // This list, dict or tensor, to be changed: a copy of it where somebody else holds it too. Null for others,
  // for tuples too.
  ScriptList* list_to_change();
  ScriptDict* dict_to_change();
  Tensor* tensor_to_change();
  std::string* text_to_change() { return std::get_if<std::string>(&kind_); }

  const Kind& kind() const { return kind_; }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&kind_);
  }
  bool is_unread() const { return std::holds_alternative<UnreadValuePtr>(kind_); }
  bool is_none() const { return std::holds_alternative<std::monostate>(kind_); }
  // A bool counts as an int, as in Python; see `as<std::int64_t>` for ints alone.
  bool is_number() const;
  const Tensor* tensor() const { return as<Tensor>(); }
  const std::string* string() const { return as<std::string>(); }
  const ScriptFunction* script_function() const;
  // Null when this is neither a list nor a tuple.
  const ScriptList* sequence() const;
  const ScriptDict* dictionary() const;
  // The value of a str key, or null.
  const ScriptValue* find(std::string_view key) const;

 private:
  Kind kind_;
};

// Levels of lists and dicts in the value.
std::uint32_t nesting_of(const ScriptValue& value);
// What a str takes beside the value that holds it; the contents of others are counted where they are made.
std::uint64_t bytes_beside(const ScriptValue& value);

// The int of an int or bool; nothing for other kinds.
std::optional<std::int64_t> integer_of(const ScriptValue& value);
// The number of an int, bool or float.
std::optional<double> real_of(const ScriptValue& value);

// "an int", "a tensor float32 (2, 3)", "a list": for messages.
std::string describe(const ScriptValue& value);
// The one word of `type`: "int", "list", "tensor", "module".
std::string_view kind_name(const ScriptValue& value);

// Python's str() and repr(): they differ for strings only. `full` prints every element of a tensor. Text of a
// container that is longer than a str may be is a ResourceLimit.
std::string text_of(const ScriptValue& value, bool full = false);
std::string quoted_text_of(const ScriptValue& value, bool full = false);
// As a bare expression shows it: a long container is elided in the middle, as a tensor is, and one of many
// nested ones at its end.
std::string shown_text(const ScriptValue& value);
// What print, str(), f-strings and formats write: a tensor without dimensions as its number, in the fewest
// digits that read back as the same value of its dtype. `shown`: containers are elided as above.
std::string written_text(const ScriptValue& value, bool shown = false, bool full = false);
// As messages quote it: some dozen characters of it.
std::string brief_text(const ScriptValue& value);

// Python's `==`; a tensor inside is a TypeError at `span`.
bool equal_values(const ScriptValue& a, const ScriptValue& b, Span span);

// A value that an engine returned, as a script sees it: scalars become int, float or bool, void becomes None.
ScriptValue from_runtime(const Value& value);

}  // namespace relish
