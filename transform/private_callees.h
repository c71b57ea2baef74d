// Functions whose parameters are nobody's contract: all that ever happens to them is that functions of the
// module call them, so that a pass may change what they take together with their calls.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct PrivateCallee {
  FunctionPtr function;
  // Of every call, which keep the expressions alive: the arguments.
  std::vector<Expr> calls;
};

// By name: private functions that are used as callees alone, that no attribute speaks of (a gradient that a
// user wrote, roles and marks of parameters).
std::unordered_map<std::string, PrivateCallee> private_callees(const Module& module);

}  // namespace relish
