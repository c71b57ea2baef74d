// Comparison of states.
#include "shell/workspace/state.h"

namespace relish {

bool is_same_state(const State& a, const State& b) {
  if (a.free_functions != b.free_functions || a.options != b.options) return false;
  if (a.around != b.around && !(*a.around == *b.around)) return false;
  bool same = true;
  a.names.for_each_difference(
      b.names, [&](const std::string&, const ScriptValue*, const ScriptValue*) { same = false; });
  return same;
}

}  // namespace relish
