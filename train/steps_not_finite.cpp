// What is said of a step whose numbers are not finite: the first tensor on its way that is not, and where in
// the text it was made.
#include "train/finite.h"
#include "train/not_finite_origin.h"
#include "train/steps.h"

namespace relish {

// The data as they were given, then the parameters, then what is made of them; of several parts of a batch
// the first is looked at.
TrainingSteps::FirstNotFinite TrainingSteps::first_not_finite_of(const TrainingState& state,
                                                                 const std::vector<Tensor>& batch) const {
  FirstNotFinite first;
  const std::vector<std::int64_t> rows = rows_of_steps(order_, state.step, 1);
  for (std::size_t i = 0; i < columns_.size() && first.clause.empty(); ++i) {
    const Tensor column = columns_[i].gather(rows);
    const std::optional<std::int64_t> found = first_not_finite(column);
    if (!found) continue;
    const std::int64_t row = *found / (column.size() / column.shape().front());
    first.clause =
        fmt::format("the {} '{}', row {} of the data", i < data_.inputs.size() ? "input" : "target",
                    step_binding_.parameter_of(i), rows[static_cast<std::size_t>(row)]);
  }
  if (first.clause.empty())
    first.clause = not_finite_among("parameter", step_.trained(), state.parameters).value_or("");
  if (first.clause.empty() && !program_.adjoint.empty()) {
    try {
      const auto origin = find_not_finite_origin(evaluator_, program_.module, program_.adjoint,
                                                 adjoint_arguments(state, first_part(batch)));
      if (origin) first = {fmt::format("'{}' of {}", origin->name, origin->function), origin->place};
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
    }
  }
  if (!first.clause.empty()) first.clause = "; the first tensor that is not finite is " + first.clause;
  return first;
}

void TrainingSteps::report_not_finite(const TrainingState& state, const std::vector<Tensor>& batch,
                                      const std::string& what) const {
  const FirstNotFinite first = first_not_finite_of(state, batch);
  fail(ErrorClass::NumericStop, first.place, "train.finite",
       fmt::format("step {}: {}{}; the state before this step is kept", state.step + 1, what, first.clause));
}

// The step changed nothing but the scale: its state is the one before it.
void TrainingSteps::report_loss_scale(const TrainingState& state) const {
  TrainingState before = state;
  --before.step;
  const FirstNotFinite first = first_not_finite_of(before, batch_of(before.step));
  fail(ErrorClass::NumericStop, first.place, "train.loss_scale",
       fmt::format("step {}: the gradients are not finite at any loss scale{}", state.step, first.clause));
}

}  // namespace relish
