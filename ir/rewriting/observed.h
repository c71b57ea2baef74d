// A function that gives all that it binds: for those who look at values, binding by binding.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/module.h"

namespace relish {

struct ObservedFunction {
  Function function;              // its result is the tuple of what it binds, as far as that is tensors
  std::vector<Binding> bindings;  // of the function, in order of the result
};

// A copy with variables of its own. Regions stay whole: what they bind is not among the results.
ObservedFunction observed_function(const Function& source, const std::string& name);

}  // namespace relish
