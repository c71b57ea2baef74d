// Batched evaluation: one call of the model for all metrics of its predictions, one of the loss.
#include "train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "support/counted.h"
#include "support/interrupt.h"
#include "train/labels.h"
#include "train/preparation.h"

namespace relish {
namespace {

// The tensors that a model gives, up to what is none. Of one that returns its loss they stand behind it.
std::vector<Tensor> predictions_of(const Value& result, const TrainingProgram& program) {
  const Value* value = &result;
  const std::size_t at = program.returns_loss ? 1 : 0;
  if (value->is_tuple() && value->fields().size() > at) {
    value = &value->fields()[at];
  } else if (program.returns_loss) {
    fail(ErrorClass::Usage, {}, "metric.logits",
         fmt::format("metrics: {} returns its loss alone; expected predictions behind it, as (loss, "
                     "predictions)",
                     program.inference));
  }
  if (!value->is_tensor()) {
    fail(ErrorClass::Data, {}, "metric.logits",
         fmt::format("metrics: {} returns {}; expected a tensor of predictions", program.inference,
                     describe(*value)));
  }
  std::vector<Tensor> predictions = {value->tensor()};
  if (!result.is_tuple()) return predictions;
  for (std::size_t i = at + 1; i < result.fields().size() && result.fields()[i].is_tensor(); ++i)
    predictions.push_back(result.fields()[i].tensor());
  return predictions;
}

double loss_of(const Value& result, std::string_view function) {
  const Value* value = &result;
  if (value->is_tuple() && !value->fields().empty()) value = &value->fields().front();
  if (!value->is_tensor() || value->tensor().rank() != 0) {
    fail(ErrorClass::Data, {}, "metric.loss",
         fmt::format("loss: {} returns {}; expected a tensor of rank 0", function, describe(*value)));
  }
  return value->tensor().get_double(0);
}

// The rows [first, first + size), continued with the last row where the data ends: a function of fixed
// batches gets its full number of rows.
std::vector<Tensor> padded_batch(std::span<const Column> columns, std::int64_t first, std::int64_t size,
                                 std::int64_t total) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = std::min(first + static_cast<std::int64_t>(i), total - 1);
  }
  return gather_batch(columns, rows);
}

std::size_t columns_of_model(const TrainingProgram& program, const DataSet& data) {
  return data.inputs.size() + (program.returns_loss ? data.targets.size() : 0);
}

ColumnBinding inference_binding(const TrainingProgram& program, const TensorsByName& parameters,
                                const DataSet& data) {
  return {program.module, program.inference, parameters, data, columns_of_model(program, data)};
}

ColumnBinding loss_binding(const TrainingProgram& program, const TensorsByName& parameters,
                           const DataSet& data) {
  if (program.loss.empty())
    fail(ErrorClass::Usage, {}, "metric.loss", "metric 'loss' needs a loss function, and none is given");
  return {program.module, program.loss, parameters, data, data.inputs.size() + data.targets.size()};
}

bool judges_predictions(const EvaluateOptions& options) {
  return std::any_of(options.metrics.begin(), options.metrics.end(),
                     [](const Metric& metric) { return !metric.is_loss(); });
}

// The metrics of predictions, over the batches of the data.
class PredictionMetrics {
 public:
  PredictionMetrics(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                    const DataSet& data, const EvaluateOptions& options)
      : evaluator_(evaluator),
        program_(program),
        data_(data),
        columns_(data.columns()),
        binding_(inference_binding(program, parameters, data)),
        fixed_(binding_.fixed_rows()),
        step_(fixed_.value_or(options.batch_size)) {
    for (const Metric& metric : options.metrics) {
      if (metric.is_loss()) continue;
      names_.push_back(metric.name);
      sums_.push_back(make_metric_sum(metric, program.judgement, evaluator, program.module));
    }
  }

  void add_batch(std::int64_t first) {
    const std::int64_t whole = std::min(step_, data_.rows() - first);
    const std::vector<Tensor> batch =
        prepared(evaluator_, program_, padded_batch(columns_, first, fixed_ ? step_ : whole, data_.rows()));
    const std::span<const Tensor> all(batch);
    const Value result = evaluator_.call(
        program_.module, program_.inference,
        judged_arguments(binding_, program_, all.first(columns_of_model(program_, data_)), first));
    const std::vector<Tensor> predictions = predictions_of(result, program_);
    for (const auto& sum : sums_) sum->add(predictions, all.subspan(data_.inputs.size()), whole);
  }

  void add_all() {
    for (std::int64_t first = 0; first < data_.rows(); first += step_) {
      poll_interrupt();
      add_batch(first);
    }
  }

  void put_into(Metrics& metrics) const {
    for (std::size_t i = 0; i < names_.size(); ++i) metrics[names_[i]] = sums_[i]->value();
  }

 private:
  Evaluator& evaluator_;
  const TrainingProgram& program_;
  const DataSet& data_;
  const std::vector<Column> columns_;
  const ColumnBinding binding_;
  const std::optional<std::int64_t> fixed_;
  const std::int64_t step_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<MetricSum>> sums_;
};

// A function of fixed batches sees whole batches only: its mean cannot be taken over a part of the rows.
double mean_loss(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, std::int64_t batch_size) {
  const ColumnBinding binding = loss_binding(program, parameters, data);
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size);
  const std::int64_t total = fixed ? data.rows() / step * step : data.rows();
  const std::vector<Column> columns = data.columns();
  double sum = 0;
  std::int64_t places = 0;
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t rows = std::min(step, total - first);
    const std::vector<Tensor> batch = prepared(evaluator, program, padded_batch(columns, first, rows, total));
    const std::int64_t counted =
        program.loss_is_sum ? rows : counted_places(batch[data.inputs.size()], rows, program.judgement);
    places += counted;
    Value result;
    try {
      result = evaluator.call(program.module, program.loss, judged_arguments(binding, program, batch, first));
    } catch (const Failure& failure) {
      refuse_wrong_label(evaluator, program, parameters, batch, data, failure);
      throw;
    }
    // The mean over no places is no number; it is also no part of the whole mean.
    if (counted > 0) sum += loss_of(result, program.loss) * program.loss_weight(counted);
  }
  return places == 0 ? std::nan("") : sum / static_cast<double>(places);
}

}  // namespace

void check_evaluation(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                      const DataSet& data, const EvaluateOptions& options, bool tried) {
  check_metric_names(options.metrics);
  check_data_set(data);
  for (const Metric& metric : options.metrics) {
    const bool by_loss = metric.is_loss();
    const ColumnBinding binding =
        by_loss ? loss_binding(program, parameters, data) : inference_binding(program, parameters, data);
    const std::optional<std::int64_t> fixed = binding.fixed_rows();
    if (by_loss && fixed && data.rows() < *fixed) {
      fail(ErrorClass::Data, data.place, "data.rows",
           fmt::format("{}: found {}; {} takes batches of {}", data.name, counted(data.rows(), "row"),
                       program.loss, counted(*fixed, "row")));
    }
    const std::int64_t rows = fixed.value_or(std::min(options.batch_size, data.rows()));
    std::vector<Tensor> batch =
        prepared(evaluator, program, padded_batch(data.columns(), 0, rows, data.rows()));
    if (!by_loss) batch.resize(columns_of_model(program, data));
    binding.check_fit(batch, data, options.parameters_place);
  }
  if (!tried) return;
  if (!judges_predictions(options)) return;
  try {
    PredictionMetrics(evaluator, program, parameters, data, options).add_batch(0);
  } catch (Failure& failure) {
    if (failure.error_class() == ErrorClass::Data) failure.at(data.place);
    throw;
  }
}

Metrics evaluate(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, const EvaluateOptions& options) {
  RELISH_CHECK(options.batch_size > 0);
  if (!options.checked) check_evaluation(evaluator, program, parameters, data, options);
  Metrics result;
  try {
    if (judges_predictions(options)) {
      PredictionMetrics predictions(evaluator, program, parameters, data, options);
      predictions.add_all();
      predictions.put_into(result);
    }
    for (const Metric& metric : options.metrics)
      if (metric.is_loss())
        result[metric.name] = mean_loss(evaluator, program, parameters, data, options.batch_size);
  } catch (Failure& failure) {
    // Predictions and targets that do not go together.
    if (failure.error_class() == ErrorClass::Data) failure.at(data.place);
    throw;
  }
  return result;
}

}  // namespace relish
