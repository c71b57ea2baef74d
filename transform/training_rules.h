// Functions of a training job beside the optimizer: the learning rate of a step, and the initial parameters.
#pragma once

#include "transform/append_loss.h"

namespace relish {

// Adds `learning_rate(lr, step, steps) -> lr` by a schedule of the library: the rate of the step that follows
// `step` steps, in a job of `steps`, where `lr` is the optimizer's. It is computed in float64 and given as
// `dtype`, which the step takes; numbers of steps are int64. `prefix`: of its name.
Module add_schedule(const Module& module, const NamedSpec& schedule, DType dtype,
                    const std::string& prefix = {});

// Start values. A parameter takes the rule of the first pattern (a glob over whole names) that its name
// matches. Of the others, weights and tables of rows take `weights`, or without one (no name)
// xavier_uniform and normal; factors start at 1, slopes at 0.25, and whatever is added at 0.
struct InitialRules {
  NamedSpec weights;
  std::vector<std::pair<std::string, NamedSpec>> patterns;

  bool given() const { return !weights.name.empty() || !patterns.empty(); }
};

// Adds `initial_params(key) -> params` for the parameters of `function` of these names, in this order
// (floating tensors of fixed shape): parameter i draws under fold_in(key, i). UsageError for a pattern that
// no name matches, and for a rule by fans of what has none. `drawn` leaves out the others of `names`: they
// keep their numbers and have no field. `prefix`: of its name.
Module add_initialiser(const Module& module, const InitialRules& rules, const Function& function,
                       const std::vector<std::string>& names, const std::vector<bool>& drawn = {},
                       const std::string& prefix = {});

}  // namespace relish
