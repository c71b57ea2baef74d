// Functions of a training job beside the optimizer: the learning rate of a step, and the initial parameters.
#pragma once

#include "transform/append_loss.h"

namespace relish {

// Adds `learning_rate(lr, step, steps) -> lr` by a schedule of the library: the rate of the step that follows
// `step` steps, in a job of `steps`, where `lr` is the optimizer's. Rates are float64, numbers of steps
// int64.
Module add_schedule(const Module& module, const NamedSpec& schedule);

// Adds `initial_params(key) -> params` by an initialiser of the library, for the parameter types given
// (floating tensors of fixed shape). It fills parameters of rank 2 and more; the others become zeros.
// Parameter i draws under fold_in(key, i).
Module add_initialiser(const Module& module, const NamedSpec& initialiser, const std::vector<Type>& params,
                       const std::vector<std::string>& names);

}  // namespace relish
