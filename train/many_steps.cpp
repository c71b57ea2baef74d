// The call, and what comes of it.
#include "train/many_steps.h"

#include <algorithm>

#include "support/failure.h"
#include "train/finite.h"
#include "train/preparation.h"

namespace relish {
namespace {

// Whether an optimizer that keeps means of the gradients has them as before: tensors of rank 1 and more.
// (Those of rank 0 count steps.)
bool same_means(const Value& before, const Value& after, bool& any) {
  for (std::size_t i = 0; i < before.fields().size(); ++i) {
    const Value& old = before.fields()[i];
    if (old.is_tuple()) {
      if (!same_means(old, after.fields()[i], any)) return false;
    } else if (old.tensor().rank() != 0) {
      any = true;
      if (!identical(old.tensor(), after.fields()[i].tensor())) return false;
    }
  }
  return true;
}

// Data in memory are given whole, and the order says their rows; of others a window is read.
std::vector<Tensor> columns_of_steps(const StepsInput& input, std::int64_t first, std::int64_t count,
                                     Tensor& order) {
  std::vector<std::int64_t> rows;
  const std::int64_t batch = input.order.size_of_batch(first % input.order.batches_per_epoch());
  if (input.windows) {
    for (std::int64_t i = 0; i < count * batch; ++i) rows.push_back(i);
  } else {
    rows = rows_of_steps(input.order, first, count);
  }
  order = Tensor::from<std::int64_t>({count, batch}, rows);
  if (input.windows) return input.windows->take(first, count);
  std::vector<Tensor> whole;
  for (const Column& column : input.columns) whole.push_back(column.tensor());
  return whole;
}

std::vector<double> shortest_doubles(const Tensor& numbers) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    result.push_back(shortest_double(Tensor::scalar(numbers.dtype(), numbers.get_double(i))));
  return result;
}

}  // namespace

bool nothing_moved(const TrainingState& before, const StepFunction::Results& after) {
  bool moved = false;
  for (std::size_t i = 0; i < after.parameters.size() && !moved; ++i)
    moved = !identical(before.parameters[i], after.parameters[i]);
  if (!moved) return true;
  // Where decay moves the parameters, the means of the gradients tell.
  bool any = false;
  return same_means(before.optimizer_states, after.optimizer_states, any) && any;
}

ManySteps::ManySteps(const TrainingProgram& program, const TensorsByName& fixed, const DataSet& data,
                     std::size_t columns)
    : binding_(program.module, program.steps, fixed, data, columns),
      roles_(roles_of(*binding_.function()).value()) {
  RELISH_CHECK(roles_.kind == "train_steps");
}

std::int64_t ManySteps::at_once(const BatchOrder& order, std::int64_t step, std::int64_t most) {
  const std::int64_t batches = order.batches_per_epoch(), place = step % batches;
  const bool short_end = order.size_of_batch(batches - 1) != order.size_of_batch(0);
  if (short_end && place == batches - 1) return 1;
  return std::min(most, batches - place - (short_end ? 1 : 0));
}

std::optional<ManySteps::Done> ManySteps::run(const StepsInput& input, const TrainingState& state,
                                              std::span<const double> learning_rates) const {
  const auto count = static_cast<std::int64_t>(learning_rates.size());
  Tensor rates = Tensor::empty(input.step.rate_dtype(), {count});
  for (std::int64_t i = 0; i < count; ++i) rates.set_double(i, learning_rates[static_cast<std::size_t>(i)]);
  Tensor order;
  const std::vector<Tensor> columns = columns_of_steps(input, state.step, count, order);
  std::vector<RoleValue> given = input.step.values(state);
  given.push_back({Role::LearningRates, rates});
  given.push_back({Role::Order, order});
  if (roles_.param(Role::Key)) {
    given.push_back({Role::Key, tensor_of_key(key_from_seed(input.seed))});
    given.push_back({Role::Step, Tensor::scalar_int(DType::Int64, state.step)});
  }
  Value result;
  try {
    result =
        input.evaluator.call(input.program.module, input.program.steps, binding_.arguments(columns, given));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted ||
        failure.error_class() == ErrorClass::ResourceLimit)
      throw;
    return std::nullopt;
  }
  const std::vector<Value>& fields = result.fields();
  if (first_not_finite(fields[roles_.result(Role::Faults).value()].tensor())) return std::nullopt;
  Done done;
  done.results = input.step.results(result, roles_);
  const Tensor& losses = fields[roles_.result(Role::Losses).value()].tensor();
  if (first_not_finite(losses)) return std::nullopt;
  const double weight =
      input.program.loss_weight(input.order.size_of_batch(state.step % input.order.batches_per_epoch()));
  done.losses = shortest_doubles(losses);
  for (std::int64_t i = 0; i < count; ++i) done.loss_sums.push_back(losses.get_double(i) * weight);
  if (const auto norms = roles_.result(Role::GradientNorms))
    done.gradient_norms = shortest_doubles(fields[*norms].tensor());
  done.no_change = state.looks_for_zero && nothing_moved(state, done.results);
  return done;
}

}  // namespace relish
