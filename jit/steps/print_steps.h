// Steps as text: one line each, lists of control indented, places as %number with their types where they are
// made, and at the end of a line where it stands in the source.
#pragma once

#include <string>

#include "jit/steps/steps.h"

namespace relish::jit {

std::string print_steps(const FunctionSteps& function);

}  // namespace relish::jit
