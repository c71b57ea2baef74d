// The update function of an optimizer of the library, as a function of the module.
#pragma once

#include "transform/append_loss.h"

namespace relish {

// Adds `optimizer(params, gradients, states, lr) -> (params, states)` and `optimizer_init(params) -> states`
// for the parameter types given (all floating tensors of one dtype).
Module add_optimizer(const Module& module, const NamedSpec& optimizer, const std::vector<Type>& params,
                     const std::vector<std::string>& names);
std::vector<std::string> optimizer_names();

// The dtype that the parameters have in common; TypeError when one of them is no floating tensor of known
// shape, or has another dtype.
DType common_dtype(const std::vector<Type>& params, const std::vector<std::string>& names);

}  // namespace relish
