// What stands between the data and the model: functions of a batch that the user wrote.
#pragma once

#include <optional>
#include <span>

#include "ir/operators/evaluator.h"
#include "runtime/philox.h"
#include "train/program.h"

namespace relish {

// The columns of a batch as the model gets them. A function that takes a key draws anew for each step;
// without a key, of data that are only looked at, it is left out.
std::vector<Tensor> prepared(Evaluator& evaluator, const TrainingProgram& program,
                             std::vector<Tensor> columns, std::optional<RandomKey> step_key = std::nullopt);

// As the argument of a parameter that is a key.
Tensor tensor_of_key(const RandomKey& key);

}  // namespace relish
