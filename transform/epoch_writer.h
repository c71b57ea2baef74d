// Many steps of training as one function: the loop over train_step in the IR.
#pragma once

#include "ir/nodes/builder.h"
#include "transform/parameter_marks.h"

namespace relish {

// A function of a batch that stands between the data and the step: it takes the first columns and perhaps a
// key, by the type of a key, and gives as many of them anew, as a tuple when there are several.
struct PrepareFunction {
  std::string name;       // in the module
  std::size_t taken = 0;  // columns that it takes
  std::size_t given = 0;  // that it gives, the first of these
  bool has_key = false;
};

struct EpochOptions {
  std::string name;         // of the function: train_epoch, train_steps
  std::string prefix = {};  // before it and before train_step
  bool each = false;        // a learning rate, a loss and a check of what came out for each step
  // What is not finite in a parameter, a buffer or a state is so for good, as by all optimizers of the
  // library and by running means: a look at them behind the last step tells of all of them.
  bool faults_last = false;
  // The parameters of the step that are columns of data, in order. Empty: inputs and targets that have the
  // first dimension of the first of them.
  std::vector<std::string> columns;
  std::vector<Type> column_types;  // of the data, rows first; empty: those of the step's parameters
  std::vector<PrepareFunction> prepare;
  // Of steps for each: so many batches are one step, by add_gradients and apply_gradients; 1: train_step.
  std::int64_t accumulate = 1;
};

// The part of a step's key from which prepare function number `at` has its own: fold_in(key, this).
constexpr std::int64_t prepare_site(std::int64_t at) { return 0x70726570 + at; }

// Adds the loop over the module's train_step (under the prefix, both):
//
//   train_epoch(params[, buffers][, averages], states, lr[, key, step], data..., order)
//     -> (mean loss, params[, buffers][, averages], states)
//   train_steps(params[, buffers][, averages], states, learning_rates[, key, step], data..., order)
//     -> (losses, faults[, gradient norms][, metrics], params[, buffers][, averages], states)
//
// Step i takes the rows order[i] of the data and, of a model with a key, fold_in(key, step + i).
// A step over several batches takes the rows order[i, j] for batch j, whose key is fold_in(key of the step,
// j); `weights` of (steps, batches + 1) stands behind the learning rates: of each step what its batches
// count, then what they count together. Prepare functions take all rows of a step at once; `losses` and
// `metrics` have those of the batches, one behind the other. faults[i] is 0, or NaN when the loss, a
// parameter, a buffer or a state is not finite behind step i; where faults last, NaN in all of them when
// something is not finite behind the last step.
void write_epoch(Module& module, const EpochOptions& options);

}  // namespace relish
