// Metrics of a model over a data set: the inference function and the loss function are called in batches, in
// the order of the rows.
#pragma once

#include "ir/operators/evaluator.h"
#include "train/batches.h"
#include "train/metrics.h"
#include "train/observer.h"
#include "train/program.h"

namespace relish {

struct EvaluateOptions {
  std::int64_t batch_size = 256;  // a function whose types fix the number of rows overrides it
  std::vector<Metric> metrics;
  Span parameters_place = {};  // where values of parameters were given
  bool checked = false;        // check_evaluation was passed with values and data of these types
};

// `parameters` holds a value for every parameter of the inference function that is not an input. Uses only
// `inference` and, for the loss, `loss` of the program, and prepare functions without a key. DataError when
// data and functions do not fit; Interrupted between batches.
Metrics evaluate(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, const EvaluateOptions& options);

// What of that can be known before anything runs: numbers of columns, dtypes, shapes. `tried`: the metrics of
// predictions are also taken over the first batch.
void check_evaluation(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                      const DataSet& data, const EvaluateOptions& options, bool tried = false);

}  // namespace relish
