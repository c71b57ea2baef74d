// What one call of a graph function holds while it runs, and function values. Internal to the evaluator.
#pragma once

#include <string>
#include <unordered_map>

#include "interp/graph_evaluator.h"

namespace relish::interp {

struct GraphEvaluator::Activation {
  const Function& function;
  SymbolValues symbols;
  std::unordered_map<std::uint64_t, Value> values;
  const std::vector<std::uint64_t>* dying = nullptr;  // variables that nothing looks at behind this binding
};

// A nested function with the values around it that it uses, or a function of the module. `given`: arguments
// that are fixed already, behind those of a call (R.make_closure).
struct GraphEvaluator::ClosureValue final : ObjectValue {
  GraphEvaluator* owner = nullptr;
  FunctionPtr function;  // null: a prim_func
  PrimFuncPtr prim;
  SymbolValues symbols;
  std::unordered_map<std::uint64_t, Value> captured;
  std::optional<std::uint64_t> self;  // the variable by which it calls itself
  std::vector<Value> given;

  std::string describe() const override {
    return "function " + (function ? function->name : prim ? prim->name : std::string());
  }
};

}  // namespace relish::interp
