// What stands between the data and the model: functions of a batch that the user wrote, and keys.
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

// As the argument of a parameter that is a key; and back.
Tensor tensor_of_key(const RandomKey& key);
RandomKey key_of_tensor(const Tensor& tensor);

// The arguments of a call with a batch that is only looked at. A model that draws has the same key for the
// rows from `first_row` on each time: what it draws there does not change from epoch to epoch.
std::vector<Value> judged_arguments(const ColumnBinding& binding, const TrainingProgram& program,
                                    std::span<const Tensor> batch, std::int64_t first_row);

}  // namespace relish
