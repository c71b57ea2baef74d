// Calls whose caller gives up what it holds: donate(p), and names that a statement of a script binds anew.
#include <algorithm>
#include <utility>

#include "ir/calls/entry.h"
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

ScriptValue ScriptCalls::donate(const std::string& name) {
  const bool touched = environment_.is_touched(name);
  ScriptValue value = environment_.take(name);
  donations_.push_back({name, value, touched});
  return value;
}

void ScriptCalls::let_donations_go(std::size_t first) {
  if (first >= donations_.size()) return;
  // Who is told may let go of the last other holder.
  for (std::size_t i = first; options_.observer && i < donations_.size(); ++i)
    options_.observer->donated(donations_[i].name, donations_[i].value);
  donations_.resize(first);
}

void ScriptCalls::give_back_donations() {
  for (; !donations_.empty(); donations_.pop_back()) {
    Donation& donation = donations_.back();
    environment_.give_back(donation.name, std::move(donation.value), donation.touched);
  }
}

ScriptValue ScriptCalls::call_of_module(const FunctionReference& function, const ast::Call& call, Span span) {
  const std::size_t mark = donations_.size();
  return call_function(function, arguments_to_give(call), span, mark);
}

ScriptValue ScriptCalls::call_of_value(const ScriptValue& callee, const ast::Call& call, Span span) {
  const std::size_t mark = donations_.size();
  std::vector<NamedValue> arguments = arguments_of(call);
  if (const auto* function = callee.as<FunctionReference>())
    return call_function(*function, std::move(arguments), span, mark);
  // The parameters of a function of the script are the only holders.
  if (callee.as<ScriptFunctionPtr>()) let_donations_go(mark);
  return this->call(callee, std::move(arguments), span);
}

// A function of tensors that takes these values may write over what is donated. What it does not take is
// looked for before; a prim_func writes over nothing that it is given.
void ScriptCalls::accept_donations(const FunctionReference& function, const std::vector<Value>& values,
                                   std::size_t first) {
  if (first >= donations_.size()) return;
  const FunctionPtr graph = function.module->function(function.name);
  if (!graph) return;
  bind_arguments(*graph, values);
  let_donations_go(first);
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
