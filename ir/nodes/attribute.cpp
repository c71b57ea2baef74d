// Attribute values: equality and lookup.
#include "ir/nodes/attribute.h"

#include <algorithm>
#include <cmath>

#include "support/failure.h"

namespace relish {

bool operator==(const Attribute& a, const Attribute& b) {
  if (const auto* x = a.as<double>()) {
    const auto* y = b.as<double>();
    return y && (*x == *y || (std::isnan(*x) && std::isnan(*y)));
  }
  // The order of a dictionary's keys says nothing.
  if (const auto* x = a.as<Attributes>()) {
    const auto* y = b.as<Attributes>();
    return y && x->size() == y->size() && std::all_of(x->begin(), x->end(), [&](const auto& entry) {
             const Attribute* other = find_attribute(*y, entry.first);
             return other && entry.second == *other;
           });
  }
  if (const auto* x = a.as<std::shared_ptr<const AttributeCall>>()) {
    const auto* y = b.as<std::shared_ptr<const AttributeCall>>();
    return y && (*x)->function == (*y)->function && (*x)->arguments == (*y)->arguments &&
           Attribute((*x)->named) == Attribute((*y)->named);
  }
  return a.kind == b.kind;
}

const Attribute* find_attribute(const Attributes& attributes, std::string_view name) {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

Attributes with_attribute(Attributes attributes, std::string_view name, Attribute value) {
  for (auto& [key, held] : attributes) {
    if (key == name) {
      held = std::move(value);
      return attributes;
    }
  }
  attributes.emplace_back(std::string(name), std::move(value));
  return attributes;
}

std::vector<std::int64_t> int_list(const Attribute& attribute) {
  if (const auto* one = attribute.as<std::int64_t>()) return {*one};
  const auto* list = attribute.as<AttributeList>();
  RELISH_CHECK(list != nullptr, "expected a list of ints");
  std::vector<std::int64_t> values;
  values.reserve(list->size());
  for (const Attribute& item : *list) {
    const auto* value = item.as<std::int64_t>();
    RELISH_CHECK(value != nullptr, "expected a list of ints");
    values.push_back(*value);
  }
  return values;
}

Attribute attribute_of(const std::vector<std::int64_t>& values) {
  return AttributeList(values.begin(), values.end());
}

}  // namespace relish
