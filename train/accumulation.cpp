// Parts of a batch one behind the other. What a part counts is its rows; of a mean that leaves labels out,
// the places that are judged; a part of which nothing counts is left out.
#include "train/accumulation.h"

#include <algorithm>

#include "train/evaluate.h"
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

StepFunction::Results Accumulation::step(const TrainingState& state, double rate,
                                         std::span<const Tensor> window, std::int64_t part_rows,
                                         RandomKey key) const {
  const std::int64_t rows = window.back().shape().front();
  const DType dtype = step_.rate_dtype();
  Value gradients = zeros_like(state.parameters), buffers = tuple_of(state.buffers);
  double loss = 0, total = 0;
  for (std::int64_t first = 0, part = 0; first < rows; first += part_rows, ++part) {
    const std::int64_t own_rows = std::min(part_rows, rows - first);
    const std::vector<Tensor> columns = rows_between(window, first, own_rows);
    const double weight =
        program_.loss_is_sum
            ? 1
            : static_cast<double>(counted_places(columns[inputs_], own_rows, program_.judgement));
    if (weight == 0) continue;
    const RoleValue given[] = {
        {Role::Parameters, tuple_of(state.parameters)},
        {Role::Buffers, buffers},
        {Role::Gradients, gradients},
        {Role::Weight, Tensor::scalar(dtype, weight)},
        {Role::LossScale, step_.loss_scale(state)},
        {Role::Key,
         step_.has_key() ? Value(tensor_of_key(fold_in(key, static_cast<std::uint64_t>(part)))) : Value()}};
    const Value result =
        evaluator_.call(program_.module, program_.add_gradients, add_.arguments(columns, given));
    gradients = field_of(result, add_roles_, Role::Gradients);
    if (!step_.buffers().empty()) buffers = field_of(result, add_roles_, Role::Buffers);
    loss += weight * field_of(result, add_roles_, Role::Loss).tensor().get_double(0);
    total += weight;
  }
  // Of a sum the parts are added up; a mean is over all that counts.
  const double divisor = program_.loss_is_sum ? 1 : total;
  StepFunction::Results results;
  results.loss = Tensor::scalar(dtype, loss / divisor);
  results.buffers = fields_of(buffers);
  const RoleValue given[] = {{Role::Parameters, tuple_of(state.parameters)},
                             {Role::Averages, tuple_of(state.averages)},
                             {Role::Gradients, gradients},
                             {Role::States, state.optimizer_states},
                             {Role::LearningRate, Tensor::scalar(dtype, rate)},
                             {Role::Weight, Tensor::scalar(dtype, divisor)}};
  const Value result =
      evaluator_.call(program_.module, program_.apply_gradients, apply_.arguments({}, given));
  if (apply_roles_.result(Role::GradientNorm))
    results.gradient_norm = shortest_double(field_of(result, apply_roles_, Role::GradientNorm).tensor());
  results.parameters = fields_of(field_of(result, apply_roles_, Role::Parameters));
  if (step_.keeps_averages()) results.averages = fields_of(field_of(result, apply_roles_, Role::Averages));
  results.optimizer_states = field_of(result, apply_roles_, Role::States);
  return results;
}

}  // namespace relish
