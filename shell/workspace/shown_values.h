// What bare expressions have shown, by input: `_` is the last of them, `_12` that of input 12.
#pragma once

#include <map>

#include "shell/workspace/states.h"

namespace relish {

class ShownValues {
 public:
  void show(std::size_t input, const ScriptValue& value);
  // Null when there is none, or it is not kept.
  const ScriptValue* last() const;
  const ScriptValue* of(std::size_t input) const;
  const std::map<std::size_t, ScriptValue>& all() const { return by_input_; }
  void let_go(const ScriptValue& value);
  // Newest first, in the room that the states leave.
  void keep_to_budget(States::Kept& kept);

 private:
  std::map<std::size_t, ScriptValue> by_input_;
};

}  // namespace relish
