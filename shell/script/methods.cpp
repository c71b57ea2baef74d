// Which methods a value has.
#include "shell/script/methods.h"

#include <algorithm>
#include <array>

#include "ir/operators/op.h"
#include "shell/script/python_names.h"
#include "stdlib/surface.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

std::span<const ValueMethod> methods_of(const ScriptValue& value) {
  if (value.string()) return text_methods();
  if (const ScriptList* list = value.sequence()) return list->tuple ? tuple_methods() : list_methods();
  if (value.dictionary()) return dict_methods();
  if (value.tensor()) return tensor_methods();
  return {};
}

const ValueMethod* find_in_table(std::span<const ValueMethod> table, std::string_view name) {
  for (const ValueMethod& method : table)
    if (method.name == name) return &method;
  return nullptr;
}

}  // namespace

const ValueMethod* find_method(const ScriptValue& value, std::string_view name) {
  const ValueMethod* method = find_in_table(methods_of(value), name);
  return method && method->instead.empty() ? method : nullptr;
}

bool is_change(std::string_view name) {
  for (const auto table : {list_methods(), dict_methods()}) {
    const ValueMethod* method = find_in_table(table, name);
    if (method && method->change) return true;
  }
  return false;
}

// What a tensor has that is no method.
constexpr std::array<std::string_view, 5> value_names = {"shape", "dtype", "ndim", "size", "T"};

std::vector<std::string> method_names(const ScriptValue& value) {
  std::vector<std::string> names;
  for (const ValueMethod& method : methods_of(value))
    if (method.instead.empty()) names.emplace_back(method.name);
  if (value.tensor()) names.insert(names.end(), value_names.begin(), value_names.end());
  std::sort(names.begin(), names.end());
  return names;
}

void no_attribute(const ScriptValue& value, std::string_view name, Span span, std::string instead) {
  const ValueMethod* known = find_in_table(methods_of(value), name);
  if (known) {
    fail(ErrorClass::Type, span, "script.attribute",
         fmt::format("{} has no '{}'; write {}", describe(value), name, known->instead));
  }
  if (value.tensor() && std::find(value_names.begin(), value_names.end(), name) != value_names.end()) {
    fail(ErrorClass::Type, span, "script.attribute",
         fmt::format("{} has no method '{}'{}", describe(value), name,
                     instead.empty() ? fmt::format("; write x.{}, which is a value", name) : instead));
  }
  if (instead.empty()) instead = python_member_advice(value, name);
  // What is a method of tensors elsewhere is an operator here; a name that is only near to that of an
  // operator is rather one of the methods, where it is near to one.
  const std::string near = instead.empty() ? did_you_mean(std::string(name), method_names(value)) : "";
  std::string advice = instead.empty() ? near : instead;
  if (instead.empty() && value.tensor()) {
    std::string found = method_advice(name, "x", true, ProposalPlace::Statement);
    if (!found.empty() && (near.empty() || !found.starts_with("; did you mean"))) advice = std::move(found);
  }
  fail(ErrorClass::Type, span, "script.attribute",
       fmt::format("{} has no attribute '{}'{}", describe(value), printable(name), advice));
}

}  // namespace relish
