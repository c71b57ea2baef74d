// The training functions of a model: its forms, loss, adjoint, optimizer and one training step, as functions
// of the module.
#pragma once

#include "transform/gradient.h"
#include "transform/metric_sums.h"
#include "transform/optimizer.h"
#include "transform/training_rules.h"

namespace relish {

struct SetupTrainerOptions {
  AppendLossOptions loss;  // neither a name nor a function: the first result of the model is its loss
  OptimizerOptions optimizer;
  NamedSpec schedule;    // adds learning_rate; no name: none
  InitialRules initial;  // adds initial_params when a rule is given
  // Parameters of the model, or of the user's loss. Default: attribute relish.params or TVM's num_input; else
  // all parameters but the first, or but `data`. A loss trains those that its own relish.params names.
  std::vector<std::string> wrt;
  std::vector<std::string> data;    // parameters that data give, where that is known
  std::vector<std::string> frozen;  // patterns of names: parameters that keep their values
  bool accumulate = false;          // adds what a step over several batches is made of, beside train_step
  std::optional<double> average;    // the step also keeps moving averages of the parameters, with this decay
  std::vector<StepMetric> metrics;  // the step also gives their sums, where the types say how
  bool gradient_norm = false;       // the step also gives the norm of all gradients together, before clipping
  // The steps compute in this half precision where that pays, with parameters and states of float32.
  std::optional<DType> half;
  // Before the names of all that is made but the forms of the model, so that a module may hold two trainers.
  std::string prefix;
  // What a step may hold, by functions of the module; and what came of it.
  std::optional<MemoryBudget> budget = {};
  BudgetReport* budget_report = nullptr;
  bool named = false;  // statements get the first parameters as a dict

  bool model_returns_loss() const { return !loss.loss_function && loss.loss.name.empty(); }
};

// Adds <f>_loss, <f>_loss_adjoint, optimizer, optimizer_init, train_epoch (see epoch_writer.h) and
// train_step(params[, buffers][, averages], states, lr[, key], inputs..., targets)
//     -> (loss[, metrics][, gradient norm], params[, buffers][, averages], states),
// and, to accumulate,
// add_gradients(params[, buffers], gradients, weight[, key], inputs..., targets)
//     -> (loss[, metrics], gradients[, buffers]), the old gradients and weight times those of this batch, and
// apply_gradients(params[, averages], gradients, states, lr, weight)
//     -> ([gradient norm, ]params[, averages], states), by the gradients divided by the weight of all,
// whose roles stand in their signatures (ir/calls/roles.h). A model that training and inference treat
// differently also has its forms, of which the loss takes the training one, and <f>_inference_loss. What an
// earlier call made is replaced; a function of the user's that has one of the names is not: UsageError.
Module setup_trainer(const Module& module, std::string_view function, const SetupTrainerOptions& options);

// Of a name that a module with a trainer does not have, but would have by another option: which, for a
// message; empty for other names and modules.
std::string option_that_adds(const Module& module, std::string_view name);

// What setup_trainer calls the functions of a model.
struct TrainerNames {
  std::string inference;       // the model for predictions
  std::string loss;            // of a step
  std::string inference_loss;  // of data that are only looked at
  std::string adjoint;         // of the loss of a step
};
TrainerNames trainer_names(const Module& module, const Function& function,
                           const SetupTrainerOptions& options);

// What a step changes in a model, each in the order in which setup_trainer has it.
struct ModelParameters {
  std::vector<std::string> trained;
  std::vector<std::string> buffers;
  std::vector<std::string> frozen;  // would be trained, and keep their values
};
// UsageError for a pattern of frozen parameters that matches none of those that would be trained.
ModelParameters parameters_of_model(const Module& module, const Function& function,
                                    const std::vector<std::string>& wrt,
                                    const std::vector<std::string>& frozen = {},
                                    const std::vector<std::string>& data = {});
// With those of the user's loss behind the model's.
ModelParameters parameters_of_trainer(const Module& module, const Function& function,
                                      const SetupTrainerOptions& options);
// The trained parameters alone, of a function without buffers but for those given. `data`: parameters that
// data give, in place of the first one.
std::vector<std::string> trained_parameters(const Function& function, const std::vector<std::string>& wrt,
                                            const std::vector<std::string>& buffers = {},
                                            const std::vector<std::string>& data = {});

// A function that has all of the trainer's parameters: the model, or one of a module made of it and its loss.
struct ParameterHolder {
  ModulePtr module;
  FunctionPtr function;
};
ParameterHolder holder_of_parameters(const Module& module, const Function& function,
                                     const SetupTrainerOptions& options);

}  // namespace relish
