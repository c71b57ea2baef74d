// Arguments and results of steps.
#include "train/step_function.h"

#include "ir/printer/reserved_names.h"

namespace relish {
namespace {

std::vector<Tensor> tensors_of(const Value& tuple) {
  std::vector<Tensor> tensors;
  tensors.reserve(tuple.fields().size());
  for (const Value& field : tuple.fields()) tensors.push_back(field.tensor());
  return tensors;
}

RoleSignature signature_of_step(const Function& function) {
  const std::optional<RoleSignature> roles = roles_of(function);
  std::optional<std::string> fault = role_fault(function);
  if (!fault && (!roles || roles->kind != "train_step"))
    fault = "it has no such attribute; expected that of a train_step, as setup_trainer makes it";
  if (!fault) return *roles;
  fail(ErrorClass::Type, function.span, "verify.role",
       fmt::format("{}: {}: {}", function.name, role_attribute, *fault));
}

}  // namespace

Value tuple_of(const std::vector<Tensor>& tensors) {
  return Value::tuple(std::vector<Value>(tensors.begin(), tensors.end()));
}

StepFunction::StepFunction(const ModulePtr& module, std::string_view name)
    : function_(function_to_call(module, name)),
      roles_(signature_of_step(*function_)),
      names_{roles_.names(Role::Parameters), roles_.names(Role::Buffers)} {}

DType StepFunction::rate_dtype() const {
  return *function_->params[*roles_.param(Role::LearningRate)].type().tensor()->dtype;
}

std::vector<RoleValue> StepFunction::values(const TrainingState& state, double rate,
                                            const Tensor& key) const {
  std::vector<RoleValue> values = {{Role::Parameters, tuple_of(state.parameters)},
                                   {Role::States, state.optimizer_states},
                                   {Role::LearningRate, Tensor::scalar(rate_dtype(), rate)}};
  if (!buffers().empty()) values.push_back({Role::Buffers, tuple_of(state.buffers)});
  if (keeps_averages()) values.push_back({Role::Averages, tuple_of(state.averages)});
  if (has_key()) values.push_back({Role::Key, key});
  return values;
}

const Value& StepFunction::field(const Value& result, Role role) const {
  RELISH_CHECK(result.is_tuple() && result.fields().size() == roles_.results.size());
  return result.fields()[*roles_.result(role)];
}

StepFunction::Results StepFunction::results(const Value& result) const {
  Results results;
  results.loss = field(result, Role::Loss).tensor();
  results.parameters = tensors_of(field(result, Role::Parameters));
  if (!buffers().empty()) results.buffers = tensors_of(field(result, Role::Buffers));
  if (keeps_averages()) results.averages = tensors_of(field(result, Role::Averages));
  results.optimizer_states = field(result, Role::States);
  return results;
}

}  // namespace relish
