// Parts of a batch one behind the other. What a part counts is its rows; of a mean that leaves labels out,
// the places that are judged; a part of which nothing counts is left out.
#include "train/accumulation.h"

#include <algorithm>

#include "train/part_weights.h"
#include "train/preparation.h"

namespace relish {
namespace {

RoleSignature signature_of(const ColumnBinding& binding) {
  const std::optional<RoleSignature> roles = roles_of(*binding.function());
  RELISH_CHECK(roles.has_value());
  return *roles;
}

const Value& field_of(const Value& result, const RoleSignature& roles, Role role) {
  RELISH_CHECK(result.is_tuple() && result.fields().size() == roles.results.size());
  return result.fields()[roles.result(role).value()];
}

std::vector<Tensor> rows_between(std::span<const Tensor> columns, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = first + i;
  std::vector<Tensor> part;
  for (const Tensor& column : columns) part.push_back(gather_rows(column, rows));
  return part;
}

Value zeros_like(const std::vector<Tensor>& tensors) {
  std::vector<Value> zeros;
  for (const Tensor& tensor : tensors) zeros.emplace_back(Tensor::zeros(tensor.dtype(), tensor.shape()));
  return Value::tuple(std::move(zeros));
}

std::vector<Tensor> fields_of(const Value& tuple) {
  std::vector<Tensor> tensors;
  for (const Value& field : tuple.fields()) tensors.push_back(field.tensor());
  return tensors;
}

}  // namespace

Accumulation::Accumulation(Evaluator& evaluator, const TrainingProgram& program, const StepFunction& step,
                           const TensorsByName& fixed, const DataSet& data)
    : evaluator_(evaluator),
      program_(program),
      step_(step),
      add_(program.module, program.add_gradients, fixed, data, data.inputs.size() + data.targets.size()),
      inputs_(data.inputs.size()),
      apply_(program.module, program.apply_gradients, {}, data, 0),
      add_roles_(signature_of(add_)),
      apply_roles_(signature_of(apply_)) {}

// Gradients and buffers of the parts before are given up: the sum stays where it is.
Accumulation::Added Accumulation::add_parts(const TrainingState& state, std::span<const Tensor> window,
                                            std::int64_t part_rows, RandomKey key) const {
  const std::int64_t rows = window.back().shape().front();
  const DType dtype = step_.rate_dtype();
  GivenParams given_up;
  for (const Role role : {Role::Buffers, Role::Gradients})
    if (const auto param = add_roles_.param(role)) given_up.push_back(*param);
  std::sort(given_up.begin(), given_up.end());
  Added added{zeros_like(state.parameters), tuple_of(state.buffers)};
  for (std::int64_t first = 0, part = 0; first < rows; first += part_rows, ++part) {
    const std::int64_t own_rows = std::min(part_rows, rows - first);
    const std::vector<Tensor> columns = rows_between(window, first, own_rows);
    const double weight = weight_of_part(program_, columns[inputs_], own_rows);
    if (weight == 0) continue;
    std::vector<RoleValue> given = {
        {Role::Parameters, tuple_of(state.parameters)},
        {Role::Buffers, std::move(added.buffers)},
        {Role::Gradients, std::move(added.gradients)},
        {Role::Weight, Tensor::scalar(dtype, weight)},
        {Role::LossScale, step_.loss_scale(state)},
        {Role::Key,
         step_.has_key() ? Value(tensor_of_key(fold_in(key, static_cast<std::uint64_t>(part)))) : Value()}};
    std::vector<Value> args = add_.arguments(columns, given);
    given.clear();  // nobody else holds what is given up
    const Value result =
        call_giving(evaluator_, program_.module, program_.add_gradients, std::move(args), given_up);
    added.gradients = field_of(result, add_roles_, Role::Gradients);
    if (!step_.buffers().empty()) added.buffers = field_of(result, add_roles_, Role::Buffers);
    if (add_roles_.result(Role::Metrics)) {
      const std::vector<double> sums = doubles_of(field_of(result, add_roles_, Role::Metrics).tensor());
      added.metric_sums.insert(added.metric_sums.end(), sums.begin(), sums.end());
    }
    added.loss += weight * field_of(result, add_roles_, Role::Loss).tensor().get_double(0);
    added.weight += weight;
  }
  return added;
}

StepFunction::Results Accumulation::step(TrainingState& state, double rate, std::span<const Tensor> window,
                                         std::int64_t part_rows, RandomKey key, bool gives) const {
  const DType dtype = step_.rate_dtype();
  Added added = add_parts(state, window, part_rows, key);
  // Of a sum the parts are added up; a mean is over all that counts.
  const double divisor = program_.loss_is_sum ? 1 : added.weight;
  StepFunction::Results results;
  results.loss = Tensor::scalar(dtype, added.loss / divisor);
  results.metric_sums = std::move(added.metric_sums);
  if (!step_.buffers().empty()) results.buffers = fields_of(added.buffers);
  const std::vector<Tensor> buffers = state.buffers;  // apply takes none
  std::vector<RoleValue> given = gives ? step_.give(state) : step_.values(state);
  state.buffers = buffers;
  given.push_back({Role::Gradients, std::move(added.gradients)});
  given.push_back({Role::LearningRate, Tensor::scalar(dtype, rate)});
  given.push_back({Role::Weight, Tensor::scalar(dtype, divisor)});
  std::vector<Value> args = apply_.arguments({}, given);
  given.clear();
  const Value result =
      gives ? call_with_state_given(evaluator_, program_, program_.apply_gradients, apply_roles_, args, state)
            : evaluator_.call(program_.module, program_.apply_gradients, std::move(args));
  if (apply_roles_.result(Role::GradientNorm))
    results.gradient_norm = shortest_double(field_of(result, apply_roles_, Role::GradientNorm).tensor());
  results.parameters = fields_of(field_of(result, apply_roles_, Role::Parameters));
  if (step_.keeps_averages()) results.averages = fields_of(field_of(result, apply_roles_, Role::Averages));
  results.optimizer_states = field_of(result, apply_roles_, Role::States);
  return results;
}

}  // namespace relish
