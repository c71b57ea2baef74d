// The table of the language's own attributes.
#include "ir/printer/reserved_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/operators/user_gradient.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::array<ReservedName, 6> known_names{{
    {gradient_attribute, NamePlace::GraphFunction, ReservedType::Text,
     "the function is the gradient of the function of that name"},
    {trained_attribute, NamePlace::GraphFunction, ReservedType::Names,
     "the parameters that training changes"},
    {buffers_attribute, NamePlace::GraphFunction, ReservedType::Names,
     "the parameters that are running statistics: a step of training sets them, without a gradient"},
    {role_attribute, NamePlace::GraphFunction, ReservedType::Text,
     "what the function is to the trainer that made it, and the roles of its parameters and results"},
    {unchecked_attribute, NamePlace::GraphFunction, ReservedType::Off,
     "as `check_well_formed=False` of the decorator, which it is printed as"},
    {unchecked_attribute, NamePlace::PrimFunc, ReservedType::Off,
     "as `check_well_formed=False` of the decorator, which it is printed as"},
}};

bool has_type(const Attribute& value, ReservedType type) {
  if (type == ReservedType::Text) return value.as<std::string>() != nullptr;
  if (type == ReservedType::Off) {
    const auto* flag = value.as<bool>();
    return flag && !*flag;
  }
  const auto* list = value.as<AttributeList>();
  return list && std::all_of(list->begin(), list->end(),
                             [](const Attribute& each) { return each.as<std::string>() != nullptr; });
}

}  // namespace

std::span<const ReservedName> reserved_names() { return known_names; }

std::string_view name_of(ReservedType type) {
  if (type == ReservedType::Off) return "False";
  return type == ReservedType::Text ? "str" : "list of str";
}

bool is_checked(const Attributes& attributes) { return !find_attribute(attributes, unchecked_attribute); }

Attributes without_unchecked(const Attributes& attributes) {
  Attributes kept = attributes;
  std::erase_if(kept, [](const auto& attribute) { return attribute.first == unchecked_attribute; });
  return kept;
}

std::string_view name_of(NamePlace place) {
  switch (place) {
    case NamePlace::GraphFunction:
      return "an R.function";
    case NamePlace::PrimFunc:
      return "a prim_func";
    case NamePlace::Module:
      return "a module";
    case NamePlace::Block:
      return "a block";
    case NamePlace::Loop:
      return "a loop";
    case NamePlace::Nested:
      return "a nested dictionary";
    case NamePlace::Scope:
      return "a scope";
  }
  return {};
}

bool is_reserved(std::string_view name) { return name.substr(0, reserved_prefix.size()) == reserved_prefix; }

std::optional<std::string> reserved_fault(NamePlace place, std::string_view name, const Attribute& value) {
  if (!is_reserved(name)) return std::nullopt;
  std::string known;
  for (const ReservedName& each : known_names) {
    if (each.place != place) continue;
    if (each.name == name) {
      if (has_type(value, each.type)) return std::nullopt;
      return fmt::format("found a value of another type for '{}'; expected {}{}", name,
                         each.type == ReservedType::Off ? "" : "a ", name_of(each.type));
    }
    known += fmt::format("{}'{}'", known.empty() ? "" : " or ", each.name);
  }
  return fmt::format("found '{}' of {}; names that begin with '{}' are the language's: expected {}",
                     printable(name), name_of(place), reserved_prefix,
                     known.empty() ? "another name" : known);
}

std::optional<std::string> reserved_scope_fault(std::string_view scope) {
  return reserved_fault(NamePlace::Scope, scope, {});
}

}  // namespace relish
