// What is said of a step whose numbers are not finite: the first tensor on its way that is not, and where in
// the text it was made.
#include "train/finite.h"
#include "train/not_finite_origin.h"
#include "train/steps.h"
#include "train/value_in_text.h"

namespace relish {

// The first tensor on the way: the data as they were given, then the parameters, then what is made of them;
// of several parts of a batch the first is looked at.
void TrainingSteps::report_not_finite(const TrainingState& state, const char* rule, const std::string& what,
                                      std::string_view end) const {
  std::string first;
  Span place;
  const std::vector<std::int64_t> rows = rows_of_steps(order_, state.step, 1);
  for (std::size_t i = 0; i < columns_.size() && first.empty(); ++i) {
    const Tensor column = columns_[i].gather(rows);
    const std::optional<std::int64_t> found = first_not_finite(column);
    if (!found) continue;
    const std::int64_t row = *found / (column.size() / column.shape().front());
    first = fmt::format("the {} '{}', row {} of the data", i < data_.inputs.size() ? "input" : "target",
                        step_binding_.parameter_of(i), rows[static_cast<std::size_t>(row)]);
  }
  if (first.empty()) first = not_finite_among("parameter", step_.trained(), state.parameters).value_or("");
  if (first.empty() && !program_.adjoint.empty()) {
    try {
      const auto origin = find_not_finite_origin(evaluator_, program_.module, program_.adjoint,
                                                 adjoint_arguments(state, first_part(batch_of(state.step))));
      if (origin) {
        first = value_in_text(*program_.module, *origin);
        place = origin->place;
      }
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Interrupted) throw;
    }
  }
  fail(ErrorClass::NumericStop, place, rule,
       fmt::format("step {}: {}{}{}{}", state.step + 1, what,
                   first.empty() ? "" : "; the first tensor that is not finite is ", first, end));
}

}  // namespace relish
