// One class for each way of summing up.
#include "train/metrics.h"

#include <algorithm>
#include <cmath>

#include "ir/calls/argument_fault.h"
#include "runtime/format.h"
#include "support/counted.h"
#include "support/failure.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

double mean_of(double sum, std::int64_t count) {
  return count == 0 ? std::nan("") : sum / static_cast<double>(count);
}

class AccuracySum final : public MetricSum {
 public:
  explicit AccuracySum(const Judgement& judgement) : judgement_(judgement) {}
  void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) override {
    const Tensor& predictions = results.front();
    const Hits hits = count_hits(predictions, targets.front(), rows, judgement_);
    sum_.hits += hits.hits;
    sum_.places += hits.places;
  }
  double value() const override { return mean_of(static_cast<double>(sum_.hits), sum_.places); }

 private:
  const Judgement& judgement_;
  Hits sum_;
};

class TopSum final : public MetricSum {
 public:
  TopSum(std::int64_t k, const Judgement& judgement) : k_(k), judgement_(judgement) {}
  void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) override {
    const Tensor& predictions = results.front();
    const Hits hits = count_top_hits(predictions, targets.front(), rows, k_, judgement_);
    sum_.hits += hits.hits;
    sum_.places += hits.places;
  }
  double value() const override { return mean_of(static_cast<double>(sum_.hits), sum_.places); }

 private:
  std::int64_t k_;
  const Judgement& judgement_;
  Hits sum_;
};

class PerplexitySum final : public MetricSum {
 public:
  explicit PerplexitySum(const Judgement& judgement) : judgement_(judgement) {}
  void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) override {
    const Tensor& predictions = results.front();
    const LogLikelihood own = negative_log_likelihood(predictions, targets.front(), rows, judgement_);
    sum_.sum += own.sum;
    sum_.places += own.places;
  }
  double value() const override { return std::exp(mean_of(sum_.sum, sum_.places)); }

 private:
  const Judgement& judgement_;
  LogLikelihood sum_;
};

// Elements of the first rows, of predictions and targets of as many.
std::int64_t elements_of_rows(const std::string& metric, const Tensor& predictions, const Tensor& targets,
                              std::int64_t rows) {
  const bool numbers =
      is_float(predictions.dtype()) && (is_float(targets.dtype()) || is_int(targets.dtype()));
  const bool fits = numbers && predictions.rank() > 0 && targets.rank() > 0 &&
                    predictions.shape().front() == targets.shape().front() &&
                    predictions.size() == targets.size();
  if (!fits) {
    fail(ErrorClass::Data, {}, "metric.values",
         fmt::format("{}: found predictions {} {} and targets {} {}; expected as many numbers in each row of "
                     "both",
                     metric, name_of(predictions.dtype()), format_shape(predictions.shape()),
                     name_of(targets.dtype()), format_shape(targets.shape())));
  }
  RELISH_CHECK(rows <= predictions.shape().front());
  return rows == 0 ? 0 : predictions.size() / predictions.shape().front() * rows;
}

class DifferenceSum final : public MetricSum {
 public:
  DifferenceSum(std::string name, bool squares) : name_(std::move(name)), squares_(squares) {}
  void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) override {
    const Tensor& predictions = results.front();
    const std::int64_t count = elements_of_rows(name_, predictions, targets.front(), rows);
    for (std::int64_t i = 0; i < count; ++i) {
      const double difference = predictions.get_double(i) - targets.front().get_double(i);
      sum_ += squares_ ? difference * difference : std::abs(difference);
    }
    count_ += count;
  }
  double value() const override { return mean_of(sum_, count_); }

 private:
  std::string name_;
  bool squares_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

// The mean of each column moves with its values, so that no sum of squares grows beyond what is left of it.
class DeterminationSum final : public MetricSum {
 public:
  void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) override {
    const Tensor& predictions = results.front();
    const std::int64_t count = elements_of_rows("r2", predictions, targets.front(), rows);
    if (count == 0) return;
    const auto width = static_cast<std::size_t>(count / rows);
    if (columns_.empty()) columns_.resize(width);
    RELISH_CHECK(columns_.size() == width);
    for (std::int64_t row = 0; row < rows; ++row) {
      ++rows_;
      for (std::size_t c = 0; c < width; ++c) {
        const std::int64_t at = row * static_cast<std::int64_t>(width) + static_cast<std::int64_t>(c);
        const double target = targets.front().get_double(at);
        const double left = target - predictions.get_double(at);
        ColumnSums& sums = columns_[c];
        sums.left += left * left;
        const double away = target - sums.mean;
        sums.mean += away / static_cast<double>(rows_);
        sums.spread += away * (target - sums.mean);
      }
    }
  }
  double value() const override {
    double sum = 0;
    for (const ColumnSums& column : columns_) sum += 1 - column.left / column.spread;
    return mean_of(sum, static_cast<std::int64_t>(columns_.size()));
  }

 private:
  struct ColumnSums {
    double left = 0, mean = 0, spread = 0;
  };
  std::vector<ColumnSums> columns_;
  std::int64_t rows_ = 0;
};

// A function of the user's. What gives one number for a batch sees whole batches only: the mean cannot be
// taken over a part of the rows.
class FunctionSum final : public MetricSum {
 public:
  FunctionSum(const Metric& metric, Evaluator& evaluator, ModulePtr module)
      : metric_(metric), evaluator_(evaluator), module_(std::move(module)) {}

  void add(std::span<const Tensor> results, std::span<const Tensor> targets, std::int64_t rows) override {
    const Tensor& predictions = results.front();
    const FunctionPtr function = module_->function(metric_.function);
    const std::size_t taken = function->params.size();
    if (taken > results.size() + targets.size() || taken < 2) {
      refuse(function->span,
             fmt::format("it takes {} values; expected {} and {}", taken,
                         results.size() > 1 ? fmt::format("1 to {} results of the model", results.size())
                                            : "the predictions",
                         counted(targets.size(), "target")));
    }
    // As the steps take it: transform/metric_sums.cpp.
    const std::size_t own = taken > targets.size() + 1 ? taken - targets.size() : 1;
    std::vector<Value> args(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(own));
    args.insert(args.end(), targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(taken - own));
    if (auto fault = find_argument_fault(metric_.name, function->params, args))
      throw std::move(fault->failure);
    const Value result = evaluator_.call(module_, metric_.function, std::move(args));
    const bool is_tensor = result.is_tuple() ? false : result.is_tensor();
    const std::int64_t given = predictions.shape().front();
    if (is_tensor && result.tensor().rank() == 0) {
      if (rows != given) return;
      sum_ += result.tensor().get_double(0) * static_cast<double>(rows);
    } else if (is_tensor && result.tensor().rank() == 1 && result.tensor().size() == given) {
      for (std::int64_t i = 0; i < rows; ++i) sum_ += result.tensor().get_double(i);
    } else {
      refuse(function->span,
             fmt::format("it gives {}; expected a number, or one for each row", describe(result)));
    }
    rows_ += rows;
  }
  double value() const override { return mean_of(sum_, rows_); }

 private:
  [[noreturn]] void refuse(Span span, const std::string& message) const {
    fail(ErrorClass::Type, span, "metric.function", fmt::format("metric {}: {}", metric_.name, message));
  }

  Metric metric_;
  Evaluator& evaluator_;
  ModulePtr module_;
  double sum_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace

Metric::Metric(std::string_view of_name) : name(of_name) {
  less_is_better = name == "loss" || name == "mse" || name == "mae" || name == "perplexity";
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {"accuracy",   "loss", "mae",  "mse",
                                                 "perplexity", "r2",   "top_k"};
  return names;
}

void check_metric_names(const std::vector<Metric>& metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::string& name = metrics[i].name;
    const bool known = std::find(metric_names().begin(), metric_names().end(), name) != metric_names().end();
    if (metrics[i].function.empty() && !known) {
      fail(ErrorClass::Usage, {}, "metric.unknown",
           fmt::format("unknown metric '{}'; metrics are {}{}", printable(name),
                       fmt::join(metric_names(), ", "), did_you_mean_choice(name, metric_names())));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (metrics[j].name != name) continue;
      fail(ErrorClass::Usage, {}, "metric.twice", fmt::format("the metric {} is asked for twice", name));
    }
  }
}

std::unique_ptr<MetricSum> make_metric_sum(const Metric& metric, const Judgement& judgement,
                                           Evaluator& evaluator, const ModulePtr& module) {
  if (!metric.function.empty()) return std::make_unique<FunctionSum>(metric, evaluator, module);
  if (metric.name == "accuracy") return std::make_unique<AccuracySum>(judgement);
  if (metric.name == "top_k") return std::make_unique<TopSum>(metric.k, judgement);
  if (metric.name == "perplexity") return std::make_unique<PerplexitySum>(judgement);
  if (metric.name == "r2") return std::make_unique<DeterminationSum>();
  RELISH_CHECK(metric.name == "mse" || metric.name == "mae", metric.name);
  return std::make_unique<DifferenceSum>(metric.name, metric.name == "mse");
}

}  // namespace relish
