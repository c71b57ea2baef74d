// The arguments of the last call of each function of a module, so that a command that calls it needs none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/value.h"
#include "shell/script/script_value.h"

namespace relish {

class LastCalls {
 public:
  // Of some functions, the last that were called, and of none whose arguments hold more than `most_bytes`.
  void note(const FunctionReference& function, const std::vector<Value>& arguments, std::uint64_t most_bytes);
  void forget(const FunctionReference& function);
  // The arguments of the function's last call; of one that is another by now those of the one before, if it
  // had the same name and its parameters, or more.
  std::optional<std::vector<Value>> of(const FunctionReference& function) const;
  // A value is given away: calls that had it are forgotten.
  void let_go(const ScriptValue& value);

 private:
  struct Call {
    GlobalFunction function;
    std::vector<Value> arguments;
  };
  std::optional<std::vector<Value>> by_names(const GlobalFunction& wanted) const;

  std::vector<Call> calls_;  // the newest last
};

}  // namespace relish
