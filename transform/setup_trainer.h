// The training functions of a model: its forms, loss, adjoint, optimizer and one training step, as functions
// of the module.
#pragma once

#include "transform/optimizer.h"
#include "transform/training_rules.h"

namespace relish {

struct SetupTrainerOptions {
  AppendLossOptions loss;
  NamedSpec optimizer;
  NamedSpec schedule;    // adds learning_rate; no name: none
  InitialRules initial;  // adds initial_params when a rule is given
  std::vector<std::string>
      wrt;  // default: attribute relish.params or TVM's num_input; else all parameters but the first
  std::vector<std::string> frozen;  // patterns of names: parameters that keep their values
  bool accumulate = false;          // adds what a step over several batches is made of, beside train_step
  std::optional<double> average;    // the step also keeps moving averages of the parameters, with this decay
};

// Adds <f>_loss, <f>_loss_adjoint, optimizer, optimizer_init and
// train_step(params[, buffers][, averages], states, lr[, key], inputs..., targets)
//     -> (loss, params[, buffers][, averages], states),
// and, to accumulate,
// add_gradients(params[, buffers], gradients, weight[, key], inputs..., targets)
//     -> (loss, gradients[, buffers]), the old gradients and weight times those of this batch, and
// apply_gradients(params[, averages], gradients, states, lr, weight) -> (params[, averages], states), by the
// gradients divided by the weight of all,
// whose roles stand in their signatures (ir/calls/roles.h). A model that training and inference treat
// differently also has its forms, of which the loss takes the training one, and <f>_inference_loss. What an
// earlier call made is replaced; a function of the user's that has one of the names is not: UsageError.
Module setup_trainer(const Module& module, std::string_view function, const SetupTrainerOptions& options);

// What setup_trainer calls the functions of a model.
struct TrainerNames {
  std::string inference;       // the model for predictions
  std::string loss;            // of a step
  std::string inference_loss;  // of data that are only looked at
};
TrainerNames trainer_names(const Module& module, const Function& function, const AppendLossOptions& loss);

// What a step changes in a model, each in the order in which setup_trainer has it.
struct ModelParameters {
  std::vector<std::string> trained;
  std::vector<std::string> buffers;
  std::vector<std::string> frozen;  // would be trained, and keep their values
};
// UsageError for a pattern of frozen parameters that matches none of those that would be trained.
ModelParameters parameters_of_model(const Module& module, const Function& function,
                                    const std::vector<std::string>& wrt,
                                    const std::vector<std::string>& frozen = {});
// The trained parameters alone, of a function without buffers but for those given.
std::vector<std::string> trained_parameters(const Function& function, const std::vector<std::string>& wrt,
                                            const std::vector<std::string>& buffers = {});

}  // namespace relish
