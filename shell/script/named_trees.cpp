// Averages and gradients have the names of the parameters where the signature gives them none.
#include "shell/script/named_trees.h"

#include "support/suggest.h"

namespace relish {
namespace {

bool has_fields(Role role) {
  return role == Role::Parameters || role == Role::Buffers || role == Role::Averages ||
         role == Role::Gradients;
}

}  // namespace

NamedTrees::NamedTrees(const Module& module, std::string_view function) : function_(function) {
  if (const FunctionPtr found = module.function(function)) roles_ = roles_of(*found);
}

const std::vector<std::string>& NamedTrees::names_of(const RoleSlot& slot) const {
  if (!slot.names.empty()) return slot.names;
  static const std::vector<std::string> none;
  if (!has_fields(slot.role)) return none;
  const auto of = [&](Role role) -> const std::vector<std::string>& {
    const auto at = roles_->param(role);
    return at ? roles_->params[*at].names : none;
  };
  const std::vector<std::string>& own = of(slot.role);
  return own.empty() && slot.role != Role::Buffers ? of(Role::Parameters) : own;
}

ScriptValue NamedTrees::argument(std::size_t at, const ScriptValue& given, Span span) {
  const ScriptDict* dict = given.dictionary();
  if (!dict || !roles_ || at >= roles_->params.size()) return given;
  const RoleSlot& slot = roles_->params[at];
  const std::vector<std::string>& names = names_of(slot);
  if (names.empty()) return given;
  std::vector<ScriptValue> fields(names.size());
  std::vector<bool> found(names.size(), false);
  for (const auto& [key, value] : dict->items) {
    const std::string* name = key.string();
    const auto place = name ? std::find(names.begin(), names.end(), *name) : names.end();
    if (place == names.end()) {
      fail(ErrorClass::Data, span, "call.names",
           fmt::format("{}: the {} have no field {}{}", function_, name_of(slot.role), quoted_text_of(key),
                       name ? did_you_mean(*name, names) : ""));
    }
    const auto field = static_cast<std::size_t>(place - names.begin());
    fields[field] = value;
    found[field] = true;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (found[i]) continue;
    fail(ErrorClass::Data, span, "call.names",
         fmt::format("{}: the {} have no value of '{}'", function_, name_of(slot.role), names[i]));
  }
  dict_given_ = true;
  return ScriptValue::tuple(std::move(fields));
}

ScriptValue NamedTrees::named(const RoleSlot& slot, const ScriptValue& made) const {
  const ScriptList* list = made.sequence();
  const std::vector<std::string>& names = names_of(slot);
  if ((!slot.by_name && !dict_given_) || !list || names.empty() || names.size() != list->items.size())
    return made;
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (std::size_t i = 0; i < names.size(); ++i) items.emplace_back(names[i], list->items[i]);
  return ScriptValue::dict(std::move(items));
}

ScriptValue NamedTrees::result(ScriptValue made) const {
  if (!roles_ || roles_->results.empty()) return made;
  if (!roles_->tuple_result) return named(roles_->results.front(), made);
  const ScriptList* list = made.sequence();
  if (!list || list->items.size() != roles_->results.size()) return made;
  std::vector<ScriptValue> fields;
  for (std::size_t i = 0; i < list->items.size(); ++i)
    fields.push_back(named(roles_->results[i], list->items[i]));
  return ScriptValue::tuple(std::move(fields));
}

}  // namespace relish
