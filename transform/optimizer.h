// The update function of an optimizer, of the library or of the user's, as a function of the module.
#pragma once

#include "transform/append_loss.h"

namespace relish {

// The parameters whose names match the pattern (a glob over whole names) have options of their own: lr,
// weight_decay. Of several groups the first that matches holds.
struct ParameterGroup {
  std::string pattern;
  Attributes options;
};

struct OptimizerOptions {
  // Of the library when `update` is null; else its options are lr, clip_norm and clip_value.
  NamedSpec spec;
  // A function of the user's and what makes its first states, with the module that holds what they refer to.
  FunctionPtr update, init;
  ModulePtr module;
  std::vector<ParameterGroup> groups;
  std::string prefix;  // of the names of what is made

  OptimizerOptions() = default;
  OptimizerOptions(NamedSpec named) : spec(std::move(named)) {}
};

// Adds `optimizer(params, gradients, states, lr) -> (params, states)` and `optimizer_init(params) -> states`
// for the parameter types given (all floating tensors of one dtype), under the prefix.
Module add_optimizer(const Module& module, const OptimizerOptions& options, const std::vector<Type>& params,
                     const std::vector<std::string>& names);
std::vector<std::string> optimizer_names();

// The rate that training passes as lr: of the user's option, or what the optimizer has without one; none when
// neither says it.
std::optional<double> learning_rate_of(const OptimizerOptions& options);

// Of a user's update function `my_update` the init function is `my_update_init`, or `my_init`; null when the
// module has none.
FunctionPtr find_optimizer_init(const Module& module, const std::string& update);

// The dtype that the parameters have in common; TypeError when one of them is no floating tensor of known
// shape, or has another dtype.
DType common_dtype(const std::vector<Type>& params, const std::vector<std::string>& names);

}  // namespace relish
