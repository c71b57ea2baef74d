// Comparison of states, and what their references to free functions mean.
#include "shell/workspace/state.h"

#include "shell/script/unread_value.h"

namespace relish {

bool is_same_free_function(const ScriptValue& a, const ScriptValue& b) {
  const auto* first = known_value(a).as<FunctionReference>();
  const auto* second = known_value(b).as<FunctionReference>();
  if (!first || !second || first->name != second->name) return false;
  const GlobalFunction* one = first->module->find(first->name);
  const GlobalFunction* other = second->module->find(second->name);
  return one && other && *one == *other;
}

ScriptValue value_in(const State& state, std::string_view name, const ScriptValue& held) {
  const ScriptValue& value = read_value(held);
  const auto* reference = value.as<FunctionReference>();
  if (!reference || reference->name != name || !state.free_functions) return value;
  if (reference->module == state.free_functions || reference->module->name != state.free_functions->name)
    return value;
  ScriptValue own = FunctionReference{state.free_functions, reference->name};
  return is_same_free_function(value, own) ? own : value;
}

bool is_same_state(const State& a, const State& b) {
  if (a.free_functions != b.free_functions || a.options != b.options) return false;
  if (a.around != b.around && !(*a.around == *b.around)) return false;
  bool same = true;
  a.names.for_each_difference(
      b.names, [&](const std::string&, const ScriptValue*, const ScriptValue*) { same = false; });
  return same;
}

}  // namespace relish
