// Short texts of values.
#include "shell/workspace/value_words.h"

#include "shell/script/unread_value.h"
#include "support/counted.h"

namespace relish {

std::string overview_of(const ScriptValue& held) {
  const ScriptValue& value = known_value(held);
  if (const auto* unread = value.as<UnreadValuePtr>()) return (*unread)->overview();
  if (value.tensor()) return describe(value).substr(std::string_view("a tensor ").size());
  if (const auto* module = value.as<ModulePtr>())
    return "module of " + counted((*module)->functions.size(), "function");
  if (const auto* function = value.as<FunctionReference>())
    return "function of " + counted(function->module->functions.size(), "function");
  if (const ScriptDict* dict = value.dictionary())
    return "dict of " + counted(dict->items.size(), "entry", "entries");
  if (value.sequence() && value.sequence()->items.size() > 4)
    return std::string(kind_name(value)) + " of " + counted(value.sequence()->items.size(), "item");
  return brief_text(value);
}

}  // namespace relish
