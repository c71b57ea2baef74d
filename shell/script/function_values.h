// Functions as values: a function of a module handed to a parameter that takes one, and calls of what a
// function gave back.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/operators/evaluator.h"
#include "shell/script/script_value.h"

namespace relish {

class FunctionValues {
 public:
  // `value` with every function of a module in it, also those in a list or tuple, as a function value of
  // `evaluator`. TypeError at `span` for a prim_func, which writes into buffers and has no value.
  ScriptValue as_values(const ScriptValue& value, Evaluator& evaluator, Span span);
  // The module and the name of the function that calls its first argument with the others, `count` of them.
  std::pair<ModulePtr, std::string> caller(std::size_t count);

 private:
  struct Giver {
    std::weak_ptr<const Module> of;
    ModulePtr module;
  };

  // By module and function: the same module with a function that returns that one, kept so that a tier that
  // compiles does it once.
  std::map<std::pair<const Module*, std::string>, Giver> givers_;
  std::map<std::size_t, ModulePtr> callers_;
};

}  // namespace relish
