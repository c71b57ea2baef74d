// A step of training as a function: its parameters and results by the roles of its signature. Here, and only
// here, a state becomes arguments and a result becomes the next state's tensors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/operators/giving.h"
#include "train/program.h"
#include "train/state.h"

namespace relish {

class StepFunction {
 public:
  // UsageError when there is no such function, TypeError when its signature is not that of a step.
  StepFunction(const ModulePtr& module, std::string_view name, bool scales_loss = false);

  const FunctionPtr& function() const { return function_; }
  // Names of what the state holds, in its order.
  const StateNames& names() const { return names_; }
  const std::vector<std::string>& trained() const { return names_.trained; }
  const std::vector<std::string>& buffers() const { return names_.buffers; }
  bool keeps_averages() const { return roles_.param(Role::Averages).has_value(); }
  bool tells_gradient_norm() const { return roles_.result(Role::GradientNorm).has_value(); }
  // How many sums a batch tells of metrics; none when its step tells of none.
  std::optional<std::size_t> sums_of_metrics() const;
  bool has_key() const { return roles_.param(Role::Key).has_value(); }
  bool scales_loss() const { return scales_loss_; }
  // Of a step that scales its loss: by how much, and how many steps were left out since a gradient was not
  // finite. 1 and 0 of others.
  Value loss_scale(const TrainingState& state) const;
  std::int64_t steps_left_out(const Value& optimizer_states) const;
  DType rate_dtype() const;

  // What a call gets beside the data. `key`: of the step; unused without a parameter for it.
  std::vector<RoleValue> values(const TrainingState& state, double rate, const Tensor& key) const;
  std::vector<RoleValue> give(TrainingState& state, double rate, const Tensor& key) const;
  const RoleSignature& roles() const { return roles_; }
  // The same of what a function of many steps gets of a state.
  std::vector<RoleValue> values(const TrainingState& state) const;
  // The same, and the state has them no more: once nothing else holds them, a call may be given them.
  std::vector<RoleValue> give(TrainingState& state) const;

  struct Results {
    Tensor loss;
    std::optional<double> gradient_norm;  // of all gradients together, where the step tells it
    std::vector<double> metric_sums;      // of its batches, where the step tells them
    std::vector<Tensor> parameters;
    std::vector<Tensor> buffers;
    std::vector<Tensor> averages;
    Value optimizer_states;
  };
  Results results(const Value& result) const;
  // Of a function of many steps: the states behind the last of them; `roles` are its own. Without a loss.
  Results results(const Value& result, const RoleSignature& roles) const;

 private:
  FunctionPtr function_;
  RoleSignature roles_;
  StateNames names_;
  bool scales_loss_;
};

Value tuple_of(const std::vector<Tensor>& tensors);

// The parameters of a function with that signature whose tensors `train` gives up: those of the state, and
// gradients.
GivenParams given_params(const RoleSignature& roles);
// The same of any function; none of what is no step, or no part of one.
GivenParams given_in_training(const Function& function);

// A call whose arguments of the roles of a state, and the gradients among them, are given up; the state has
// them no more. A failure gives it them back, unless they are lost. `args` is left empty.
Value call_with_state_given(Evaluator& evaluator, const TrainingProgram& program, const std::string& function,
                            const RoleSignature& roles, std::vector<Value>& args, TrainingState& state);
void prepare_with_state_given(Evaluator& evaluator, const TrainingProgram& program,
                              const std::string& function, const RoleSignature& roles,
                              const std::vector<Value>& args, TrainingState& state);
// The value with the shortest text that reads back as the tensor's own type, so that a float32 loss is
// written as 0.4123 and not with the digits of its conversion to double.
double shortest_double(const Tensor& scalar);
std::vector<double> doubles_of(const Tensor& tensor);
double shortest_double(DType dtype, double value);

}  // namespace relish
