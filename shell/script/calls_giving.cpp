// Calls whose caller gives up what it holds: donate(p), and names that a statement of a script binds anew.
#include <algorithm>
#include <utility>

#include "shell/script/replaced_names.h"
#include "shell/script/script_calls.h"

namespace relish {
namespace {

bool has_tensors(const ScriptValue& value) {
  return value.tensor() || value.sequence() || value.dictionary();
}

}  // namespace

ScriptValue ScriptCalls::value_while_rebinding(const ast::Assignment* assignment, const ast::Expr& value) {
  struct Restore {
    const ast::Assignment*& place;
    const ast::Assignment* before;
    ~Restore() { place = before; }
  } const restore{rebinding_, std::exchange(rebinding_, assignment)};
  return value_of(value);
}

// donate(p), where that is no function of the script.
bool ScriptCalls::is_donation(const ast::Expr& argument) const {
  const auto* call = argument.as<ast::Call>();
  const auto* callee = call ? call->callee->as<ast::Name>() : nullptr;
  return callee && callee->id == "donate" && !slot_of(*callee) && !variable(*callee);
}

// False, with nothing changed, for a name that is not this script's to change.
bool ScriptCalls::hand_over(const ast::Name& name) {
  if (NameSlot* slot = slot_of(name)) {
    slot->value = {};
    slot->bound = false;
    return true;
  }
  if (inside_.library) return false;
  const std::uint32_t place = environment_.place_of(name.id);
  if (!environment_.is_bound(place)) return false;
  environment_.hand_over(place);
  return true;
}

std::vector<NamedValue> ScriptCalls::arguments_to_give(const ast::Call& call) {
  std::vector<NamedValue> arguments = arguments_of(call);
  // `*` and `**` stand for arguments that nobody counts here.
  const auto is_plain = [](const ast::Argument& argument) { return argument.stars == 0; };
  if (!std::all_of(call.arguments.begin(), call.arguments.end(), is_plain)) return arguments;
  const bool rebinds = rebinding_ && rebinding_->value->as<ast::Call>() == &call;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ast::Expr& written = *call.arguments[i].value;
    const auto* name = rebinds ? written.as<ast::Name>() : nullptr;
    if (is_donation(written)) {
      arguments[i].given = true;
    } else if (name && is_replaced(*rebinding_, *name) && has_tensors(arguments[i].value)) {
      arguments[i].given = hand_over(*name);
    }
  }
  return arguments;
}

}  // namespace relish
