// Script values: construction, kinds and equality. Their text is in value_text.cpp.
#include "shell/script/script_value.h"

#include <algorithm>
#include <optional>

#include "shell/script/numbers.h"

namespace relish {

std::int64_t ScriptRange::size() const {
  if (step > 0) {
    if (begin >= end) return 0;
    auto distance = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    return static_cast<std::int64_t>((distance - 1) / static_cast<std::uint64_t>(step) + 1);
  }
  if (begin <= end) return 0;
  auto distance = static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(end);
  return static_cast<std::int64_t>((distance - 1) / (0 - static_cast<std::uint64_t>(step)) + 1);
}

void check_item_count(std::int64_t count, Span span) {
  if (count <= most_items) return;
  fail(ErrorClass::ResourceLimit, span, "limit.items",
       fmt::format("a value of {} items is too long; expected at most {}", count, most_items));
}

namespace {

std::uint32_t depth_of(const ScriptValue& value) {
  if (const ScriptList* list = value.sequence()) return list->depth;
  if (const ScriptDict* dict = value.dictionary()) return dict->depth;
  return 0;
}

std::uint32_t depth_around(std::uint32_t inner) {
  if (inner < most_value_nesting) return inner + 1;
  fail(ErrorClass::ResourceLimit, {}, "limit.value_nesting",
       fmt::format("lists and dicts nest deeper than {}", most_value_nesting));
}

std::shared_ptr<const ScriptList> make_list(std::vector<ScriptValue> items, bool tuple) {
  std::uint32_t inner = 0;
  for (const ScriptValue& item : items) inner = std::max(inner, depth_of(item));
  return std::make_shared<const ScriptList>(ScriptList{std::move(items), tuple, depth_around(inner)});
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
  for (const auto& [key, item] : items) inner = std::max(inner, depth_of(item));
  ScriptValue value;
  value.kind_ = std::make_shared<const ScriptDict>(ScriptDict{std::move(items), depth_around(inner)});
  return value;
}

bool ScriptValue::is_number() const {
  return std::holds_alternative<bool>(kind_) || std::holds_alternative<std::int64_t>(kind_) ||
         std::holds_alternative<double>(kind_);
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
  for (const auto& [name, value] : dict->items) {
    if (name.string() && *name.string() == key) return &value;
  }
  return nullptr;
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
  std::string_view name = kind_name(value);
  return fmt::format("{} {}", name == "int" ? "an" : "a", name);
}

bool equal_values(const ScriptValue& a, const ScriptValue& b, Span span) {
  if (a.tensor() || b.tensor()) {
    fail(ErrorClass::Type, span, "script.tensor_equality",
         "'==' and '!=' are not defined on tensors; use R.equal or allclose");
  }
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind().index() != b.kind().index()) return false;
  if (const std::string* text = a.string()) return *text == *b.string();
  if (const ScriptList* left = a.sequence()) {
    const ScriptList* right = b.sequence();
    if (left->tuple != right->tuple || left->items.size() != right->items.size()) return false;
    for (std::size_t i = 0; i < left->items.size(); ++i) {
      if (!equal_values(left->items[i], right->items[i], span)) return false;
    }
    return true;
  }
  if (const ScriptDict* left = a.dictionary()) {
    const ScriptDict* right = b.dictionary();
    if (left->items.size() != right->items.size()) return false;
    for (const auto& [key, value] : left->items) {
      auto same_key = [&, &wanted = key](const auto& item) { return equal_values(item.first, wanted, span); };
      auto found = std::find_if(right->items.begin(), right->items.end(), same_key);
      if (found == right->items.end() || !equal_values(found->second, value, span)) return false;
    }
    return true;
  }
  if (const auto* left = a.as<ScriptRange>()) {
    const auto* right = b.as<ScriptRange>();
    std::int64_t size = left->size();
    return size == right->size() &&
           (size == 0 || (left->begin == right->begin && (size == 1 || left->step == right->step)));
  }
  if (const auto* left = a.as<ShapeValue>()) return left->dims == b.as<ShapeValue>()->dims;
  if (const auto* left = a.as<ModulePtr>()) return *left == *b.as<ModulePtr>();
  if (const auto* left = a.as<FunctionReference>()) {
    const auto* right = b.as<FunctionReference>();
    return left->module == right->module && left->name == right->name;
  }
  return a.is_none();
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
