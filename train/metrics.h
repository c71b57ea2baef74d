// Metrics: what they are called, and how each is summed up over the batches of a data set. Sums are taken in
// double and in row order, so that a metric has the same bits in every run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operators/evaluator.h"
#include "train/judgement.h"

namespace relish {

struct Metric {
  std::string name;      // in results: of metric_names(), or of the user's function
  std::int64_t k = 5;    // of top_k
  std::string function;  // the user's, of the program's module: (predictions, targets...) -> a number of the
                         // batch, or one for each row; empty: a metric of ours
  bool less_is_better = false;

  Metric(std::string_view name);
  Metric(const char* name) : Metric(std::string_view(name)) {}
  Metric(const std::string& name) : Metric(std::string_view(name)) {}
  bool is_loss() const { return function.empty() && name == "loss"; }
};

// "accuracy": share of the places that are judged right, see count_hits; "loss": mean of the loss function
// over the rows; "mae", "mse": mean of the differences' absolute values and squares over all elements;
// "perplexity": e to the mean of the negative log-likelihood of the labels; "r2": 1 less the share of the
// targets' variance that is left, mean over their columns; "top_k": share of the labels among the k greatest.
// NaN when nothing is judged.
const std::vector<std::string>& metric_names();
// UsageError with the nearest name for one that is unknown, and for one that is asked for twice.
void check_metric_names(const std::vector<Metric>& metrics);

// One metric over the batches of a data set.
class MetricSum {
 public:
  virtual ~MetricSum() = default;
  // `results`: of the model, the predictions first. Only the first `rows` rows count; a batch has more of
  // them where a function takes no fewer. DataError, UsageError for predictions and targets that do not go
  // together.
  virtual void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) = 0;
  virtual double value() const = 0;
};
// Of any but the loss.
std::unique_ptr<MetricSum> make_metric_sum(const Metric& metric, const Judgement& judgement,
                                           Evaluator& evaluator, const ModulePtr& module);

}  // namespace relish
