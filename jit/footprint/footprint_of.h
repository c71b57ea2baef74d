// The footprint of a call of a program whose steps are known.
#pragma once

#include <vector>

#include "jit/footprint.h"
#include "jit/steps/program_steps.h"
#include "runtime/value.h"

namespace relish::jit {

// `args` fit the parameters; their leaves of `donated` are given up. `threads`: on which kernels run.
Footprint footprint_of_steps(ProgramSteps& steps, const Function& function, const std::vector<Value>& args,
                             const step::Donated& donated, int threads);
// Of a prim_func called by itself; `operands`: of all its parameters, those that it writes among them.
Footprint footprint_of_prim_func(const PrimFunc& function, const std::vector<Value>& operands, int threads);

}  // namespace relish::jit
