// Which class a classifier takes for which: counted over the rows of a data set by the inference form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/operators/evaluator.h"
#include "train/batches.h"
#include "train/program.h"

namespace relish {

struct Confusion {
  std::string data;       // "validation", "training"
  std::int64_t rows = 0;  // that were looked at
  std::int64_t all = 0;   // rows of the data
  std::int64_t classes = 0;
  std::vector<std::int64_t> counts;  // [target * classes + prediction]
  std::int64_t unjudged = 0;         // a NaN among the predictions
};

// More classes than that make no table.
inline constexpr std::int64_t most_confusion_classes = 30;

// None when the model is no classifier of labels: its targets are not integers of rank 1 beside predictions
// (n, classes), or, of one column, no threshold says what is positive. At most `most_rows` rows are looked
// at, `batch_rows` at once. Interrupted between batches; failures of the program pass through.
std::optional<Confusion> count_confusion(Evaluator& evaluator, const TrainingProgram& program,
                                         const TensorsByName& parameters, const DataSet& data,
                                         std::int64_t most_rows, std::int64_t batch_rows = 256);

}  // namespace relish
