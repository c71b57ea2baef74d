// Metrics of a model over a data set: the inference function and the loss function are called in batches, in
// the order of the rows.
#pragma once

#include "ir/operators/evaluator.h"
#include "train/batches.h"
#include "train/observer.h"
#include "train/program.h"

namespace relish {

struct EvaluateOptions {
  std::int64_t batch_size = 256;     // a function whose types fix the number of rows overrides it
  std::vector<std::string> metrics;  // of metric_names()
  Span parameters_place = {};        // where values of parameters were given
};

// "accuracy": share of the places that are judged right, see count_hits; NaN when none is judged. "loss":
// mean of the loss function over the rows. Both in [0, inf) as double.
const std::vector<std::string>& metric_names();
// UsageError with the nearest name for one that is unknown.
void check_metric_names(const std::vector<std::string>& metrics);

// `parameters` holds a value for every parameter of the inference function that is not an input. Uses only
// `inference` and, for the loss, `loss` of the program. DataError when data and functions do not fit;
// Interrupted between batches.
Metrics evaluate(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, const EvaluateOptions& options);

// What of that can be known before anything runs: numbers of columns, dtypes, shapes.
void check_evaluation(const TrainingProgram& program, const TensorsByName& parameters, const DataSet& data,
                      const EvaluateOptions& options);
// A place at which the loss's own operator failed, in a call for `batch`: when a label of it is no class,
// that is thrown as a DataError where the data were given. `batch`: inputs, then targets.
void refuse_wrong_label(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                        std::span<const Tensor> batch, const DataSet& data, const Failure& failure);

// What the mean over a batch is a mean of: its rows, or, where a label does not count, the places of those
// that do.
std::int64_t counted_places(const Tensor& targets, std::int64_t rows, const Judgement& judgement);

// Judges predictions (n, classes, ...), classes along dimension 1, by targets that are labels (n, ...) or
// values of each class, like the predictions; the greatest counts, the first of equals. Predictions of one
// column, (n,) or (n, 1, ...), are positive above the threshold, targets above 0.5. A place with a NaN is
// wrong; one with the ignored label is not judged. Only the first `rows` rows count. DataError when shapes or
// dtypes do not fit or a label is out of range, UsageError for one column without a threshold.
struct Hits {
  std::int64_t hits = 0;
  std::int64_t places = 0;
};
Hits count_hits(const Tensor& predictions, const Tensor& targets, std::int64_t rows,
                const Judgement& judgement);

}  // namespace relish
