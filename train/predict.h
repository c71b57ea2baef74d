// What a model gives for the rows of a data set, batch by batch.
#pragma once

#include "ir/operators/evaluator.h"
#include "runtime/value.h"
#include "train/batches.h"
#include "train/program.h"

namespace relish {

// The result of the inference function for all rows: a tensor, or tuples of them, whose rows stand in the
// order of the data. `data` has inputs alone; `parameters` the values of all other parameters. Prepare
// functions without a key stand before the model. A function whose types fix the number of rows overrides
// `batch_size`; one that refuses a short last batch as it runs gets that one filled up. TypeError when the
// function does not give a row for each row; Interrupted between batches.
Value predict(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
              const DataSet& data, std::int64_t batch_size, Span parameters_place = {});
// What the type of the function tells of that, before anything is computed. TypeError.
void check_gives_rows(const Function& function);

}  // namespace relish
