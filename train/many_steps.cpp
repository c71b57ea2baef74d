// The call, and what comes of it.
#include "train/many_steps.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "support/failure.h"
#include "train/fingerprint.h"
#include "train/finite.h"
#include "train/preparation.h"

namespace relish {
namespace {

// Data in memory are given whole, and the order says their rows; of others a window is read.
std::vector<Tensor> columns_of_steps(const StepsInput& input, std::int64_t first, std::int64_t count,
                                     Tensor& order) {
  const std::int64_t batches = input.order.batches_per_epoch(), place = first % batches;
  const std::int64_t batch = input.order.size_of_batch(place), parts = input.accumulate;
  order = Tensor::empty(DType::Int64, parts > 1 ? Shape{count, parts, batch / parts} : Shape{count, batch});
  const std::span<std::int64_t> rows = order.mutable_view<std::int64_t>();
  if (input.windows)
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
  else
    input.order.rows_at(first / batches, place * input.order.size_of_batch(0), rows);
  if (input.windows) return input.windows->take(first, count);
  std::vector<Tensor> whole;
  for (const Column& column : input.columns) whole.push_back(column.tensor());
  return whole;
}

std::vector<double> shortest_doubles(const Tensor& numbers) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    result.push_back(shortest_double(numbers.dtype(), numbers.get_double(i)));
  return result;
}

}  // namespace

ManySteps::ManySteps(const TrainingProgram& program, const TensorsByName& fixed, const DataSet& data,
                     std::size_t columns)
    : binding_(program.module, program.steps, fixed, data, columns),
      roles_(roles_of(*binding_.function()).value()) {
  RELISH_CHECK(roles_.kind == "train_steps");
}

std::int64_t ManySteps::at_once(const BatchOrder& order, std::int64_t step, std::int64_t most,
                                std::int64_t step_rows) {
  const std::int64_t batches = order.batches_per_epoch(), place = step % batches;
  if (order.size_of_batch(place) < step_rows) return 0;
  const bool short_end = order.size_of_batch(batches - 1) != order.size_of_batch(0);
  if (short_end && place == batches - 1) return 1;
  return std::min(most, batches - place - (short_end ? 1 : 0));
}

std::optional<ManySteps::Done> ManySteps::run(const StepsInput& input, TrainingState& state,
                                              std::span<const double> learning_rates, bool gives) const {
  const auto count = static_cast<std::int64_t>(learning_rates.size());
  Rows rows;
  rows.columns = columns_of_steps(input, state.step, count, rows.order);
  if (input.accumulate > 1) {
    rows.weights =
        weights_of_parts(input.program, input.step.rate_dtype(), rows.columns[input.inputs], rows.order);
    if (!rows.weights) return std::nullopt;
  }
  std::optional<Fingerprint> before;
  if (state.looks_for_zero) before = fingerprint_of(state);
  std::vector<Value> args = arguments(input, state, learning_rates, rows, gives);
  Done done;
  Value result;
  try {
    if (!compiled_) done.seconds_compiling = compile(input, args, state, gives);
    result = gives ? call_with_state_given(input.evaluator, input.program, input.program.steps, roles_, args,
                                           state)
                   : input.evaluator.call(input.program.module, input.program.steps, std::move(args));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted ||
        failure.error_class() == ErrorClass::ResourceLimit)
      throw;
    return std::nullopt;
  }
  const std::vector<Value>& fields = result.fields();
  if (first_not_finite(fields[roles_.result(Role::Faults).value()].tensor())) return std::nullopt;
  done.results = input.step.results(result, roles_);
  const Tensor& losses = fields[roles_.result(Role::Losses).value()].tensor();
  if (first_not_finite(losses)) return std::nullopt;
  const double weight =
      input.program.loss_weight(input.order.size_of_batch(state.step % input.order.batches_per_epoch()));
  const Tensor of_steps = rows.weights ? rows.weights->joined(losses) : losses;
  done.losses = shortest_doubles(of_steps);
  for (std::int64_t i = 0; i < count; ++i) done.loss_sums.push_back(of_steps.get_double(i) * weight);
  if (const auto norms = roles_.result(Role::GradientNorms))
    done.gradient_norms = shortest_doubles(fields[*norms].tensor());
  if (const auto metrics = roles_.result(Role::Metrics))
    done.results.metric_sums = doubles_of(fields[*metrics].tensor());
  done.no_change = before && nothing_moved(*before, done.results);
  return done;
}

std::vector<Value> ManySteps::arguments(const StepsInput& input, TrainingState& state,
                                        std::span<const double> learning_rates, const Rows& rows,
                                        bool gives) const {
  const auto count = static_cast<std::int64_t>(learning_rates.size());
  Tensor rates = Tensor::empty(input.step.rate_dtype(), {count});
  for (std::int64_t i = 0; i < count; ++i) rates.set_double(i, learning_rates[static_cast<std::size_t>(i)]);
  std::vector<RoleValue> given = gives ? input.step.give(state) : input.step.values(state);
  given.push_back({Role::LearningRates, rates});
  given.push_back({Role::Order, rows.order});
  if (rows.weights) given.push_back({Role::Weight, rows.weights->tensor});
  if (roles_.param(Role::Key)) {
    given.push_back({Role::Key, tensor_of_key(key_from_seed(input.seed))});
    given.push_back({Role::Step, Tensor::scalar_int(DType::Int64, state.step)});
  }
  return binding_.arguments(rows.columns, given);
}

// Beforehand, so that the time of the call is that of its steps.
double ManySteps::compile(const StepsInput& input, const std::vector<Value>& args, TrainingState& state,
                          bool gives) const {
  const auto began = std::chrono::steady_clock::now();
  if (gives)
    prepare_with_state_given(input.evaluator, input.program, input.program.steps, roles_, args, state);
  else
    input.evaluator.prepare(input.program.module, input.program.steps, args);
  compiled_ = true;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace relish
