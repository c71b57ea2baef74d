// An R.function that calls a prim_func on values of given sizes, for passes over functions that are asked
// about a prim_func.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/module.h"
#include "runtime/value.h"

namespace relish {

struct PrimCaller {
  Module module;  // with the function
  std::string function;
  std::vector<Value> arguments;  // of its parameters: the tensors that the prim_func reads, by their names
};

// `arguments` and `result` as an Evaluator takes and gives them for the prim_func; numbers become literals. A
// prim_func with a result before something that it reads is called under another name, with its parameters
// in the order that call_tir has; so is what the user wrote as its gradient.
PrimCaller caller_of(const Module& module, const PrimFunc& function, const std::vector<Value>& arguments,
                     const Value& result);

}  // namespace relish
