// Script values: construction, growing and kinds. Their text is in value_text.cpp, equality in
// value_order.cpp.
#include "shell/script/script_value.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include "shell/script/dict_index.h"
#include "shell/script/numbers.h"
#include "shell/script/script_function.h"
#include "shell/script/unread_value.h"
#include "support/checked.h"

namespace relish {

std::uint64_t ScriptRange::count() const { return range_count(begin, end, step); }

bool ScriptRange::contains(std::int64_t number) const {
  if (step > 0 ? number < begin || number >= end : number > begin || number <= end) return false;
  // Differences of int64 are exact without a sign.
  const auto at = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return step > 0 ? (at(number) - at(begin)) % at(step) == 0 : (at(begin) - at(number)) % (0 - at(step)) == 0;
}

void check_item_count(std::int64_t count, Span span) {
  if (count <= most_items) return;
  fail(ErrorClass::ResourceLimit, span, "limit.items",
       fmt::format("a value of {} items is too long; expected at most {}", count, most_items));
}

std::uint32_t nesting_of(const ScriptValue& value) {
  if (const ScriptList* list = value.sequence()) return list->depth;
  if (const ScriptDict* dict = value.dictionary()) return dict->depth;
  if (const ScriptFunction* function = value.script_function())
    return std::max(function->depth, nesting_of(function->self) + 1);
  return 0;
}

std::uint64_t bytes_beside(const ScriptValue& value) {
  const std::string* text = value.string();
  return text && text->capacity() > std::string().capacity() ? text->capacity() + 1 : 0;
}

namespace {

std::uint32_t depth_around(std::uint32_t inner) {
  if (inner < most_value_nesting) return inner + 1;
  fail(ErrorClass::ResourceLimit, {}, "limit.value_nesting",
       fmt::format("lists and dicts nest deeper than {}", most_value_nesting));
}

std::shared_ptr<const ScriptList> make_list(std::vector<ScriptValue> items, bool tuple) {
  std::uint32_t inner = 0;
  std::uint64_t bytes = sizeof(ScriptList) + items.capacity() * sizeof(ScriptValue);
  for (const ScriptValue& item : items) {
    inner = std::max(inner, nesting_of(item));
    bytes += bytes_beside(item);
  }
  HeldMemory held(bytes, tuple ? "a tuple" : "a list");
  // Not made const: one that nobody shares grows in place.
  return std::make_shared<ScriptList>(
      ScriptList{std::move(items), tuple, depth_around(inner), std::move(held)});
}

}  // namespace

ScriptValue ScriptValue::list(std::vector<ScriptValue> items) {
  ScriptValue value;
  value.kind_ = make_list(std::move(items), false);
  return value;
}

ScriptValue ScriptValue::tuple(std::vector<ScriptValue> items) {
  ScriptValue value;
  value.kind_ = make_list(std::move(items), true);
  return value;
}

ScriptValue ScriptValue::dict(std::vector<std::pair<ScriptValue, ScriptValue>> items) {
  std::uint32_t inner = 0;
  std::uint64_t bytes = sizeof(ScriptDict) + items.capacity() * sizeof(items[0]);
  for (const auto& [key, item] : items) {
    inner = std::max(inner, nesting_of(item));
    bytes += bytes_beside(key) + bytes_beside(item);
  }
  HeldMemory held(bytes, "a dict");
  ScriptValue value;
  // Not made const: one that nobody shares changes in place.
  value.kind_ =
      std::make_shared<ScriptDict>(ScriptDict{std::move(items), depth_around(inner), std::move(held)});
  return value;
}

ScriptList* ScriptValue::list_to_change() {
  auto* held = std::get_if<std::shared_ptr<const ScriptList>>(&kind_);
  if (!held || (*held)->tuple) return nullptr;
  if (held->use_count() != 1) *this = list((*held)->items);
  return const_cast<ScriptList*>(std::get<std::shared_ptr<const ScriptList>>(kind_).get());
}

ScriptDict* ScriptValue::dict_to_change() {
  auto* held = std::get_if<std::shared_ptr<const ScriptDict>>(&kind_);
  if (!held) return nullptr;
  if (held->use_count() != 1) *this = dict((*held)->items);
  return const_cast<ScriptDict*>(std::get<std::shared_ptr<const ScriptDict>>(kind_).get());
}

Tensor* ScriptValue::tensor_to_change() { return std::get_if<Tensor>(&kind_); }

bool ScriptValue::append_in_place(const ScriptValue& other) {
  if (auto* text = std::get_if<std::string>(&kind_)) {
    if (!other.string()) return false;
    text->append(*other.string());
    return true;
  }
  auto* held = std::get_if<std::shared_ptr<const ScriptList>>(&kind_);
  const ScriptList* added = other.sequence();
  if (!held || !added || held->use_count() != 1 || (*held)->tuple != added->tuple) return false;
  const std::uint32_t depth = std::max((*held)->depth, added->depth);
  std::vector<ScriptValue> copies = added->items;
  // Nobody else holds it, so nobody sees it change. From here on nothing is refused: room first.
  auto& list = const_cast<ScriptList&>(**held);
  const std::size_t wanted = list.items.size() + copies.size();
  const std::size_t room = wanted > list.items.capacity() ? std::max(wanted, 2 * list.items.size()) : 0;
  std::uint64_t more = room > 0 ? (room - list.items.capacity()) * sizeof(ScriptValue) : 0;
  for (const ScriptValue& item : copies) more += bytes_beside(item);
  list.held.grow_to(list.held.bytes() + more, list.tuple ? "a tuple" : "a list");
  if (room > 0) list.items.reserve(room);
  list.items.insert(list.items.end(), std::make_move_iterator(copies.begin()),
                    std::make_move_iterator(copies.end()));
  list.depth = depth;
  return true;
}

bool ScriptValue::is_number() const {
  return std::holds_alternative<bool>(kind_) || std::holds_alternative<std::int64_t>(kind_) ||
         std::holds_alternative<double>(kind_);
}

const ScriptFunction* ScriptValue::script_function() const {
  const auto* function = as<ScriptFunctionPtr>();
  return function ? function->get() : nullptr;
}

const ScriptList* ScriptValue::sequence() const {
  const auto* list = as<std::shared_ptr<const ScriptList>>();
  return list ? list->get() : nullptr;
}

const ScriptDict* ScriptValue::dictionary() const {
  const auto* dict = as<std::shared_ptr<const ScriptDict>>();
  return dict ? dict->get() : nullptr;
}

const ScriptValue* ScriptValue::find(std::string_view key) const {
  const ScriptDict* dict = dictionary();
  if (!dict) return nullptr;
  return find_in(*dict, ScriptValue(std::string(key)));
}

std::optional<std::int64_t> integer_of(const ScriptValue& value) {
  if (const auto* i = value.as<std::int64_t>()) return *i;
  if (const auto* b = value.as<bool>()) return *b ? 1 : 0;
  return std::nullopt;
}

std::optional<double> real_of(const ScriptValue& value) {
  if (const auto* d = value.as<double>()) return *d;
  if (auto i = integer_of(value)) return static_cast<double>(*i);
  return std::nullopt;
}

std::string_view kind_name(const ScriptValue& value) {
  struct Name {
    std::string_view operator()(std::monostate) const { return "None"; }
    std::string_view operator()(bool) const { return "bool"; }
    std::string_view operator()(std::int64_t) const { return "int"; }
    std::string_view operator()(double) const { return "float"; }
    std::string_view operator()(const std::string&) const { return "str"; }
    std::string_view operator()(const std::shared_ptr<const ScriptList>& list) const {
      return list->tuple ? "tuple" : "list";
    }
    std::string_view operator()(const std::shared_ptr<const ScriptDict>&) const { return "dict"; }
    std::string_view operator()(const ScriptRange&) const { return "range"; }
    std::string_view operator()(const Tensor&) const { return "tensor"; }
    std::string_view operator()(const ShapeValue&) const { return "shape"; }
    std::string_view operator()(const ModulePtr&) const { return "module"; }
    std::string_view operator()(const FunctionReference&) const { return "function"; }
    std::string_view operator()(const std::shared_ptr<const ObjectValue>&) const { return "object"; }
    std::string_view operator()(const ScriptFunctionPtr& function) const {
      return function->text ? "function" : "builtin_function_or_method";
    }
    std::string_view operator()(const UnreadValuePtr& unread) const { return unread->kind(); }
  };
  return std::visit(Name{}, value.kind());
}

std::string describe(const ScriptValue& value) {
  if (value.is_none()) return "None";
  if (const Tensor* tensor = value.tensor()) return describe(Value(*tensor));
  if (const auto* shape = value.as<ShapeValue>()) return describe(Value(*shape));
  if (const auto* module = value.as<ModulePtr>()) return fmt::format("the module '{}'", (*module)->name);
  if (const auto* function = value.as<FunctionReference>())
    return fmt::format("the function '{}'", function->name);
  if (const auto* object = value.as<std::shared_ptr<const ObjectValue>>()) return (*object)->describe();
  if (const ScriptFunction* function = value.script_function())
    return function->text
               ? fmt::format("the function '{}' of the script, without @R.function", function->name)
               : fmt::format("the built-in '{}'", function->name);
  std::string_view name = kind_name(value);
  return fmt::format("{} {}", name == "int" ? "an" : "a", name);
}

ScriptValue from_runtime(const Value& value) {
  if (value.is_void()) return {};
  if (value.is_tensor()) return value.tensor();
  if (value.is_shape()) return value.shape();
  if (value.is_string()) return value.string();
  if (value.is_scalar()) {
    const ScalarValue& scalar = value.scalar();
    if (is_bool(scalar.dtype)) return scalar.integer != 0;
    if (is_float(scalar.dtype)) return scalar.real;
    return scalar.integer;
  }
  if (value.is_tuple()) {
    std::vector<ScriptValue> items;
    items.reserve(value.fields().size());
    for (const Value& field : value.fields()) items.push_back(from_runtime(field));
    return ScriptValue::tuple(std::move(items));
  }
  return std::get<std::shared_ptr<const ObjectValue>>(value.kind());
}

}  // namespace relish
