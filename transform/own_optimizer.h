// An optimizer that the user wrote. There are two forms of it. Of one parameter:
//
//   my_update(p, g, lr, m) -> (p, m)     my_init(p) -> m
//
// the first two are the parameter and its gradient; `lr` and `num_steps` (an int64 that counts the steps,
// this one among them) are known by their names and may be left out; all others are states, which come back
// behind the parameter in their order. It is inlined for each parameter. Of all parameters at once, when the
// first is a tuple: my_update(params, gradients, states, lr) -> (params, states), my_init(params) -> states.
#pragma once

#include "ir/calls/roles.h"
#include "transform/optimizer.h"

namespace relish {

// Puts the functions optimizer and optimizer_init into the module. TypeError for functions that are neither,
// or do not give back what they take; UsageError for options that do not go with them.
void write_own_optimizer(Module& module, const OptimizerOptions& options, const std::vector<Type>& params,
                         const std::vector<std::string>& names, DType dtype);

// The roles of `optimizer(params, gradients, states, lr) -> (params, states)`.
RoleSignature roles_of_optimizer(const std::vector<std::string>& names);

}  // namespace relish
