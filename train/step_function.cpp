// Arguments and results of steps.
#include "train/step_function.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/printer/reserved_names.h"

namespace relish {

double shortest_double(const Tensor& scalar) { return shortest_double(scalar.dtype(), scalar.get_double(0)); }

double shortest_double(DType dtype, double value) {
  if (dtype == DType::Float64 || !std::isfinite(value)) return value;
  char text[64];
  auto written = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  std::from_chars(text, written.ptr, value);
  return value;
}

std::vector<double> doubles_of(const Tensor& tensor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.push_back(tensor.get_double(i));
  return result;
}

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

namespace {

constexpr Role given_roles[] = {Role::Parameters, Role::Buffers, Role::Averages, Role::States,
                                Role::Gradients};

void take_back(TrainingState& state, const std::vector<Value>& args, const RoleSignature& roles) {
  const auto tensors = [&](Role role, std::vector<Tensor>& into) {
    if (const auto param = roles.param(role)) into = tensors_of(args[*param]);
  };
  tensors(Role::Parameters, state.parameters);
  tensors(Role::Buffers, state.buffers);
  tensors(Role::Averages, state.averages);
  state.optimizer_states = args[roles.param(Role::States).value()];
}

}  // namespace

GivenParams given_params(const RoleSignature& roles) {
  GivenParams given;
  for (const Role role : given_roles)
    if (const auto param = roles.param(role)) given.push_back(*param);
  std::sort(given.begin(), given.end());
  return given;
}

GivenParams given_in_training(const Function& function) {
  const std::optional<RoleSignature> roles = roles_of(function);
  const bool steps = roles && (roles->result(Role::Parameters) || roles->result(Role::Gradients));
  return steps ? given_params(*roles) : GivenParams();
}

Value call_with_state_given(Evaluator& evaluator, const TrainingProgram& program, const std::string& function,
                            const RoleSignature& roles, std::vector<Value>& args, TrainingState& state) {
  try {
    return call_giving(evaluator, program.module, function, args, given_params(roles));
  } catch (const Failure&) {
    if (!args.empty()) take_back(state, args, roles);
    throw;
  }
}

void prepare_with_state_given(Evaluator& evaluator, const TrainingProgram& program,
                              const std::string& function, const RoleSignature& roles,
                              const std::vector<Value>& args, TrainingState& state) {
  try {
    prepare_giving(evaluator, program.module, function, args, given_params(roles));
  } catch (const Failure&) {
    take_back(state, args, roles);
    throw;
  }
}

StepFunction::StepFunction(const ModulePtr& module, std::string_view name, bool scales_loss)
    : function_(function_to_call(module, name)),
      roles_(signature_of_step(*function_)),
      names_{roles_.names(Role::Parameters), roles_.names(Role::Buffers)},
      scales_loss_(scales_loss) {}

DType StepFunction::rate_dtype() const {
  return *function_->params[*roles_.param(Role::LearningRate)].type().tensor()->dtype;
}

std::optional<std::size_t> StepFunction::sums_of_metrics() const {
  const std::optional<std::size_t> at = roles_.result(Role::Metrics);
  if (!at) return std::nullopt;
  const Type& type = function_->result_type.tuple()->fields[*at];
  return static_cast<std::size_t>(type.tensor()->shape->front().as_int().value());
}

std::vector<RoleValue> StepFunction::values(const TrainingState& state) const {
  std::vector<RoleValue> values = {{Role::Parameters, tuple_of(state.parameters)},
                                   {Role::States, state.optimizer_states}};
  if (!buffers().empty()) values.push_back({Role::Buffers, tuple_of(state.buffers)});
  if (keeps_averages()) values.push_back({Role::Averages, tuple_of(state.averages)});
  return values;
}

std::vector<RoleValue> StepFunction::give(TrainingState& state) const {
  std::vector<RoleValue> values = this->values(state);
  state.parameters.clear();
  state.buffers.clear();
  state.averages.clear();
  state.optimizer_states = Value();
  return values;
}

namespace {

std::vector<RoleValue> with_rate(std::vector<RoleValue> values, Tensor rate, bool has_key,
                                 const Tensor& key) {
  values.push_back({Role::LearningRate, std::move(rate)});
  if (has_key) values.push_back({Role::Key, key});
  return values;
}

}  // namespace

std::vector<RoleValue> StepFunction::values(const TrainingState& state, double rate,
                                            const Tensor& key) const {
  return with_rate(values(state), Tensor::scalar(rate_dtype(), rate), has_key(), key);
}

std::vector<RoleValue> StepFunction::give(TrainingState& state, double rate, const Tensor& key) const {
  return with_rate(give(state), Tensor::scalar(rate_dtype(), rate), has_key(), key);
}

// The tuple of states ends in the scale, the good steps behind it, and the steps that were left out.
Value StepFunction::loss_scale(const TrainingState& state) const {
  if (!scales_loss_) return Tensor::scalar(rate_dtype(), 1);
  const std::vector<Value>& fields = state.optimizer_states.fields();
  return fields[fields.size() - 3];
}

std::int64_t StepFunction::steps_left_out(const Value& optimizer_states) const {
  return scales_loss_ ? optimizer_states.fields().back().tensor().get_int(0) : 0;
}

namespace {

const Value& field_of_role(const Value& result, const RoleSignature& roles, Role role) {
  RELISH_CHECK(result.is_tuple() && result.fields().size() == roles.results.size());
  return result.fields()[*roles.result(role)];
}

}  // namespace

StepFunction::Results StepFunction::results(const Value& result, const RoleSignature& roles) const {
  Results results;
  results.parameters = tensors_of(field_of_role(result, roles, Role::Parameters));
  if (!buffers().empty()) results.buffers = tensors_of(field_of_role(result, roles, Role::Buffers));
  if (keeps_averages()) results.averages = tensors_of(field_of_role(result, roles, Role::Averages));
  results.optimizer_states = field_of_role(result, roles, Role::States);
  return results;
}

StepFunction::Results StepFunction::results(const Value& result) const {
  Results results = this->results(result, roles_);
  results.loss = field_of_role(result, roles_, Role::Loss).tensor();
  if (tells_gradient_norm())
    results.gradient_norm = shortest_double(field_of_role(result, roles_, Role::GradientNorm).tensor());
  if (roles_.result(Role::Metrics))
    results.metric_sums = doubles_of(field_of_role(result, roles_, Role::Metrics).tensor());
  return results;
}

}  // namespace relish
