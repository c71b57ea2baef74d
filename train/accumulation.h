// A step over several batches: the gradients of each, weighted by what it counts, are added up, and one
// update divides by the weight of all. So the step is that of one large batch, but for the batch's own
// statistics and masks, which each part has for itself.
#pragma once

#include "ir/operators/evaluator.h"
#include "runtime/philox.h"
#include "train/options.h"
#include "train/step_function.h"

namespace relish {

class Accumulation {
 public:
  // The functions of the program by their roles. `fixed`: values of parameters that no step changes.
  Accumulation(Evaluator& evaluator, const TrainingProgram& program, const StepFunction& step,
               const TensorsByName& fixed, const DataSet& data);

  // A step over the rows of `window`, in parts of `part_rows`; the last may be short. `key` is that of the
  // step: part i has fold_in(key, i).
  // `gives`: the state's tensors are given up; it has them back only where a failure says so.
  StepFunction::Results step(TrainingState& state, double rate, std::span<const Tensor> window,
                             std::int64_t part_rows, RandomKey key, bool gives) const;

 private:
  // What the parts of a batch come to.
  struct Added {
    Value gradients, buffers;
    double loss = 0, weight = 0;
    std::vector<double> metric_sums = {};  // of the parts, one behind the other
  };
  Added add_parts(const TrainingState& state, std::span<const Tensor> window, std::int64_t part_rows,
                  RandomKey key) const;

  Evaluator& evaluator_;
  const TrainingProgram& program_;
  const StepFunction& step_;
  ColumnBinding add_;
  std::size_t inputs_;  // columns before the targets
  ColumnBinding apply_;
  RoleSignature add_roles_, apply_roles_;
};

}  // namespace relish
