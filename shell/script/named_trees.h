// Parameters, buffers, averages and gradients by name. Functions have them as tuples; the signature of roles
// of a trainer's function says the names of the fields, so a statement may give a dict in place of a tuple,
// and then gets dicts back.
#pragma once

#include "ir/calls/roles.h"
#include "shell/script/script_value.h"

namespace relish {

class NamedTrees {
 public:
  // Of a function without a signature nothing changes.
  NamedTrees(const Module& module, std::string_view function);

  // The argument at that place as the function takes it: of a dict the tuple of its values in the order of
  // the names. DataError for a name that is missing or too much.
  ScriptValue argument(std::size_t at, const ScriptValue& given, Span span);
  // What the function gave, with dicts where its signature asks for them or a dict was given for the role.
  ScriptValue result(ScriptValue made) const;

 private:
  const std::vector<std::string>& names_of(const RoleSlot& slot) const;
  ScriptValue named(const RoleSlot& slot, const ScriptValue& made) const;

  std::string function_;
  std::optional<RoleSignature> roles_;
  bool dict_given_ = false;
};

}  // namespace relish
