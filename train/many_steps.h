// Many steps by one call of the program: the loop over them is compiled with them, and nothing is allocated
// from step to step.
#pragma once

#include "ir/operators/evaluator.h"
#include "train/options.h"
#include "train/part_weights.h"
#include "train/state.h"
#include "train/step_function.h"
#include "train/windows.h"

namespace relish {

// What a job's steps are over: all of it is there as long as they are.
struct StepsInput {
  Evaluator& evaluator;
  const TrainingProgram& program;
  const StepFunction& step;
  const BatchOrder& order;
  const std::vector<Column>& columns;
  std::optional<WindowReader>& windows;  // of data that stay in files
  std::uint64_t seed = 0;
  std::int64_t accumulate = 1;  // batches of a step
  std::size_t inputs = 0;       // columns before the targets
};

class ManySteps {
 public:
  ManySteps(const TrainingProgram& program, const TensorsByName& fixed, const DataSet& data,
            std::size_t columns);

  // So many steps behind `step` steps can be done by one call, at most `most`: those of an epoch whose
  // batches are of one size. Of steps over several batches 0 where one has less than `step_rows` rows.
  static std::int64_t at_once(const BatchOrder& order, std::int64_t step, std::int64_t most,
                              std::int64_t step_rows);

  struct Done {
    StepFunction::Results results;  // behind the last
    std::vector<double> losses, loss_sums;
    std::vector<double> gradient_norms;  // where the steps tell them
    bool no_change = false;
    double seconds_compiling = 0;
  };
  // The steps behind `state`, one for each rate, the same to the bit as one by one. None when something in
  // one of them was not finite, or failed: then they are to be done one by one. `gives`: the state's tensors
  // are given up; it has them back only where a failure says so.
  std::optional<Done> run(const StepsInput& input, TrainingState& state,
                          std::span<const double> learning_rates, bool gives) const;

 private:
  // The data of some steps.
  struct Rows {
    std::vector<Tensor> columns;
    Tensor order;
    std::optional<PartWeights> weights;  // of steps over several batches
  };
  std::vector<Value> arguments(const StepsInput& input, TrainingState& state,
                               std::span<const double> learning_rates, const Rows& rows, bool gives) const;
  double compile(const StepsInput& input, const std::vector<Value>& args, TrainingState& state,
                 bool gives) const;

  ColumnBinding binding_;
  RoleSignature roles_;
  mutable bool compiled_ = false;
};

}  // namespace relish
