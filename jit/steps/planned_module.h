// What the steps of a program decided about memory, as a module: a kernel that writes its results over what
// ends there is called by R.call_tir_inplace, and a function whose caller gives arguments up has a function
// of its own for that. It prints, reads back, and computes the same: who runs it copies what somebody else
// still sees.
#pragma once

#include <map>
#include <string>

#include "ir/operators/giving.h"
#include "jit/steps/program_steps.h"

namespace relish::jit {

// The stored leaves of the parameters that callers give up.
step::Donated donated_leaves(const Function& function, const GivenParams& given);

// `written`: the functions that callers from outside may call. `given`: by function, what such callers give
// up; the functions for those are added. What nobody can come to call is left out.
Module planned_module(const LoweredProgram& program, const std::vector<std::string>& written,
                      const std::map<std::string, GivenParams>& given);

}  // namespace relish::jit
