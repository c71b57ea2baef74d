// Metrics of a model over a data set: the inference function and the loss function are called in batches, in
// the order of the rows.
#pragma once

#include "ir/evaluator.h"
#include "train/batches.h"
#include "train/observer.h"
#include "train/program.h"

namespace relish {

struct EvaluateOptions {
  std::int64_t batch_size = 256;     // a function whose types fix the number of rows overrides it
  std::vector<std::string> metrics;  // of metric_names()
};

// "accuracy": share of rows whose greatest logit (the first NaN, else the first of equals) stands at the
// integer target. "loss": mean of the loss function over the rows. Both in [0, inf) as double.
const std::vector<std::string>& metric_names();
// UsageError with the nearest name for one that is unknown.
void check_metric_names(const std::vector<std::string>& metrics);

// `parameters` holds a value for every parameter of the inference function that is not an input. Uses only
// `inference` and, for the loss, `loss` of the program. DataError when data and functions do not fit;
// Interrupted between batches.
Metrics evaluate(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, const EvaluateOptions& options);

// Rows of `logits` (n, classes, ...) whose argmax over dimension 1 equals the integer in `targets` (n, ...),
// as hits and places; only the first `rows` rows count. DataError when the shapes or dtypes do not fit.
struct Hits {
  std::int64_t hits = 0;
  std::int64_t places = 0;
};
Hits count_hits(const Tensor& logits, const Tensor& targets, std::int64_t rows);

}  // namespace relish
