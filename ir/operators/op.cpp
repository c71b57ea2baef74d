// The table of operators, and the view of a call that rules work on.
#include "ir/operators/op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/printer/printer.h"
#include "support/failure.h"

namespace relish {
namespace {

struct OpTable {
  std::vector<const Op*> by_name;
  std::vector<std::pair<std::string_view, const Op*>> aliases;
};

OpTable& table() {
  static OpTable instance;
  return instance;
}

}  // namespace

void install_ops(std::span<const Op* const> ops) {
  OpTable fresh;
  fresh.by_name.assign(ops.begin(), ops.end());
  std::sort(fresh.by_name.begin(), fresh.by_name.end(),
            [](const Op* a, const Op* b) { return a->name < b->name; });
  for (const Op* op : fresh.by_name) {
    for (std::string_view alias : op->aliases) fresh.aliases.emplace_back(alias, op);
  }
  std::sort(fresh.aliases.begin(), fresh.aliases.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < fresh.by_name.size(); ++i) {
    RELISH_CHECK(fresh.by_name[i - 1]->name != fresh.by_name[i]->name, std::string(fresh.by_name[i]->name));
  }
  table() = std::move(fresh);
}

std::span<const Op* const> all_ops() { return table().by_name; }

namespace {

const Op* find_named(std::string_view name) {
  const auto& by_name = table().by_name;
  auto found = std::lower_bound(by_name.begin(), by_name.end(), name,
                                [](const Op* op, std::string_view wanted) { return op->name < wanted; });
  if (found != by_name.end() && (*found)->name == name) return *found;
  const auto& aliases = table().aliases;
  auto alias =
      std::lower_bound(aliases.begin(), aliases.end(), name,
                       [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return alias != aliases.end() && alias->first == name ? alias->second : nullptr;
}

}  // namespace

const Op* find_op(std::string_view name) {
  if (const Op* op = find_named(name)) return op;
  if (name.empty() || name.find('.') != std::string_view::npos) return nullptr;
  // Before there were namespaces, and in many a text since, relu is nn.relu.
  for (std::string_view space : {"nn.", "image.", "vision."})
    if (const Op* op = find_named(std::string(space) + std::string(name))) return op;
  return nullptr;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  names.reserve(all_ops().size());
  for (const Op* op : all_ops()) names.emplace_back(op->name);
  return names;
}

std::string_view short_name_of(const Op& op) {
  const std::size_t dot = op.name.rfind('.');
  return dot == std::string_view::npos ? op.name : op.name.substr(dot + 1);
}

void CallView::reject(std::string_view constraint, Span at, std::string message) const {
  const std::string_view name = short_name_of(op);
  fail(ErrorClass::Type, at, fmt::format("{}.{}", name, constraint), fmt::format("{}: {}", name, message));
}

const TensorType& CallView::tensor(std::size_t i) const {
  RELISH_CHECK(i < args.size(), std::string(op.name));
  if (const TensorType* type = args[i].type().tensor()) return *type;
  // The i-th argument belongs to the i-th parameter that is no attribute.
  std::string_view name = "argument";
  std::size_t position = 0;
  for (const Param& param : op.params) {
    if (param.kind != ParamKind::Attribute && position++ == i) name = param.name;
  }
  const TupleType* tuple = args[i].type().tuple();
  const bool holds_tensor = tuple && !tuple->fields.empty() && tuple->fields.front().tensor();
  reject(
      "tensor", span_of(i),
      fmt::format("{} has type {}; expected a tensor{}", name, print(args[i].type()),
                  holds_tensor                                             ? ", as its field [0]"
                  : op.name == "astype" && args[i].type().as<ScalarType>() ? "; of a scalar write n.astype(…)"
                                                                           : ""));
}

const Attribute& CallView::attribute(std::string_view name) const {
  const Attribute* found = find_attribute(attributes, name);
  RELISH_CHECK(found != nullptr, fmt::format("{} has no attribute {}", op.name, name));
  return *found;
}

std::int64_t CallView::int_attribute(std::string_view name) const {
  const Attribute& held = attribute(name);
  if (const auto* value = held.as<std::int64_t>()) return *value;
  if (const auto* value = held.as<bool>()) return *value ? 1 : 0;
  reject(name, span, fmt::format("{} is {}; expected an int", name, print(held)));
}

std::string CallView::string_attribute(std::string_view name) const {
  const Attribute& held = attribute(name);
  if (const auto* value = held.as<std::string>()) return *value;
  reject(name, span, fmt::format("{} is {}; expected a string", name, print(held)));
}

}  // namespace relish
