// Functions as differentiation reads them: all calls are calls of functions of the module. Nested functions
// are lifted; variables that stand for functions give way to these, also where an if chooses one; functions
// that take or give functions are part of their callers. The module keeps its texts.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct PlainFunctions {
  std::unordered_map<std::string, FunctionPtr> bodies;  // of functions of the module that read otherwise
  std::vector<FunctionPtr> added;                       // private ones that nested functions became
};

PlainFunctions with_plain_calls(const Module& module);

}  // namespace relish
