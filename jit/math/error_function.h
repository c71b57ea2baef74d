// The error function.
#pragma once

#include "jit/math/lane.h"

namespace relish::jit {

Number error_function(Number x);

}  // namespace relish::jit
