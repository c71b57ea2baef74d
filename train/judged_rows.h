// How many rows of data that are only looked at go through a model at once.
#pragma once

#include "train/batches.h"
#include "train/program.h"

namespace relish {

// 256, or as many as leave all values that the types of the model and its loss show within a part of the
// memory; not fewer than `at_least`, the rows that a step of the job bears. The same for any two runs, but
// where the memory is small.
std::int64_t judged_rows(const TrainingProgram& program, const DataSet& data, std::int64_t at_least);

}  // namespace relish
