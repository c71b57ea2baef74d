// The training functions of a model: loss, adjoint, optimizer and one training step, as functions of the
// module.
#pragma once

#include "transform/append_loss.h"
#include "transform/training_rules.h"

namespace relish {

// Adds `optimizer(params, gradients, states, lr) -> (params, states)` and `optimizer_init(params) -> states`
// for the parameter types given (all floating tensors of one dtype).
Module add_optimizer(const Module& module, const NamedSpec& optimizer, const std::vector<Type>& params,
                     const std::vector<std::string>& names);
std::vector<std::string> optimizer_names();

struct SetupTrainerOptions {
  AppendLossOptions loss;
  NamedSpec optimizer;
  NamedSpec schedule;    // adds learning_rate; no name: none
  InitialRules initial;  // adds initial_params when a rule is given
  std::vector<std::string>
      wrt;  // default: attribute relish.params or TVM's num_input; else all parameters but the first
};

// Adds <f>_loss, <f>_loss_adjoint, optimizer, optimizer_init and
// train_step(params, states, lr, inputs..., targets) -> (loss, params, states). What an earlier call made is
// replaced; a function of the user's that has one of the names is not: UsageError.
Module setup_trainer(const Module& module, std::string_view function, const SetupTrainerOptions& options);
// The trained parameters in order, as setup_trainer chooses them.
std::vector<std::string> trained_parameters(const Function& function, const std::vector<std::string>& wrt);

}  // namespace relish
