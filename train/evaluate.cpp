// Batched evaluation. Sums are taken in double and in row order, so that a metric has the same bits in every
// run.
#include "train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "runtime/format.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/suggest.h"

namespace relish {
namespace {

const Tensor& logits_of(const Value& result, std::string_view function) {
  const Value* value = &result;
  if (value->is_tuple() && !value->fields().empty()) value = &value->fields().front();
  if (!value->is_tensor()) {
    fail(
        ErrorClass::Data, {}, "metric.logits",
        fmt::format("accuracy: {} returns {}; expected a tensor of predictions", function, describe(*value)));
  }
  return value->tensor();
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
std::vector<Tensor> padded_batch(std::span<const Tensor> columns, std::int64_t first, std::int64_t size,
                                 std::int64_t total) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = std::min(first + static_cast<std::int64_t>(i), total - 1);
  }
  std::vector<Tensor> batch;
  for (const Tensor& column : columns) batch.push_back(gather_rows(column, rows));
  return batch;
}

ColumnBinding inference_binding(const TrainingProgram& program, const TensorsByName& parameters,
                                const DataSet& data) {
  return {program.module, program.inference, parameters, data, data.inputs.size()};
}

ColumnBinding loss_binding(const TrainingProgram& program, const TensorsByName& parameters,
                           const DataSet& data) {
  if (program.loss.empty())
    fail(ErrorClass::Usage, {}, "metric.loss", "metric 'loss' needs a loss function, and none is given");
  return {program.module, program.loss, parameters, data, data.inputs.size() + 1};
}

double accuracy(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                const DataSet& data, std::int64_t batch_size) {
  const ColumnBinding binding = inference_binding(program, parameters, data);
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size);
  const std::int64_t total = data.rows();
  const std::vector<Tensor> columns = data.columns();
  Hits sum;
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t whole = std::min(step, total - first);
    std::vector<Tensor> batch = padded_batch(columns, first, fixed ? step : whole, total);
    Tensor targets = std::move(batch.back());
    batch.pop_back();
    Value result = evaluator.call(program.module, program.inference, binding.arguments(batch));
    const Hits hits = count_hits(logits_of(result, program.inference), targets, whole, program.judgement);
    sum.hits += hits.hits;
    sum.places += hits.places;
  }
  return sum.places == 0 ? std::nan("") : static_cast<double>(sum.hits) / static_cast<double>(sum.places);
}

// A function of fixed batches sees whole batches only: its mean cannot be taken over a part of the rows.
double mean_loss(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, std::int64_t batch_size) {
  const ColumnBinding binding = loss_binding(program, parameters, data);
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size);
  const std::int64_t total = fixed ? data.rows() / step * step : data.rows();
  const std::vector<Tensor> columns = data.columns();
  double sum = 0;
  std::int64_t places = 0;
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t rows = std::min(step, total - first);
    std::vector<Tensor> batch = padded_batch(columns, first, rows, total);
    const std::int64_t counted =
        program.loss_is_sum ? rows : counted_places(batch.back(), rows, program.judgement);
    places += counted;
    Value result;
    try {
      result = evaluator.call(program.module, program.loss, binding.arguments(batch));
    } catch (const Failure& failure) {
      refuse_wrong_label(evaluator, program, parameters, batch, data, failure);
      throw;
    }
    // The mean over no places is no number; it is also no part of the whole mean.
    if (counted > 0) sum += loss_of(result, program.loss) * program.loss_weight(counted);
  }
  return places == 0 ? std::nan("") : sum / static_cast<double>(places);
}

// The places of predictions along dimension 1.
struct Classes {
  std::int64_t classes = 1;
  std::int64_t inner = 1;

  explicit Classes(const Tensor& predictions) {
    const Shape& shape = predictions.shape();
    if (shape.size() >= 2) classes = shape[1];
    for (std::size_t i = 2; i < shape.size(); ++i) inner *= shape[i];
  }
  std::int64_t index(std::int64_t place, std::int64_t c) const {
    return (place / inner * classes + c) * inner + place % inner;
  }
};

// The class of the greatest value of a place; -1 when one of them is NaN.
std::int64_t greatest_class(const Tensor& values, const Classes& places, std::int64_t place) {
  std::int64_t best = 0;
  double best_value = values.get_double(places.index(place, 0));
  if (std::isnan(best_value)) return -1;
  for (std::int64_t c = 1; c < places.classes; ++c) {
    const double value = values.get_double(places.index(place, c));
    if (std::isnan(value)) return -1;
    if (value > best_value) {
      best = c;
      best_value = value;
    }
  }
  return best;
}

[[noreturn]] void refuse_shapes(const Tensor& predictions, const Tensor& targets, std::string_view expected) {
  fail(ErrorClass::Data, {}, "metric.logits",
       fmt::format("accuracy: found predictions {} {} and targets {} {}; expected {}",
                   name_of(predictions.dtype()), format_shape(predictions.shape()), name_of(targets.dtype()),
                   format_shape(targets.shape()), expected));
}

bool is_number(DType dtype) { return is_float(dtype) || is_int(dtype); }

Hits count_above(const Tensor& predictions, const Tensor& targets, std::int64_t places,
                 const Judgement& judgement) {
  if (!judgement.threshold) {
    fail(
        ErrorClass::Usage, {}, "metric.threshold",
        fmt::format("accuracy: found predictions of one column, {}, and no loss that says from where on they "
                    "are positive; expected accuracy(threshold=0.5), or the loss",
                    format_shape(predictions.shape())));
  }
  if (targets.size() != predictions.size() || (!is_number(targets.dtype()) && targets.dtype() != DType::Bool))
    refuse_shapes(predictions, targets, "a number of one column for each row");
  Hits result;
  for (std::int64_t place = 0; place < places; ++place) {
    const double target = targets.get_double(place);
    if (judgement.ignored_label && target == static_cast<double>(*judgement.ignored_label)) continue;
    ++result.places;
    const double value = predictions.get_double(place);
    if (!std::isnan(value) && !std::isnan(target) && (value > *judgement.threshold) == (target > 0.5))
      ++result.hits;
  }
  return result;
}

Hits count_labels(const Tensor& predictions, const Tensor& targets, std::int64_t places,
                  const Judgement& judgement) {
  const Classes classes(predictions);
  Hits result;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t label = targets.get_int(place);
    if (label == judgement.ignored_label) continue;
    if (label < 0 || label >= classes.classes) {
      fail(ErrorClass::Data, {}, "metric.label",
           fmt::format("accuracy: found the label {}; expected 0 to {}{}", label, classes.classes - 1,
                       label < 0 && !judgement.ignored_label
                           ? ", or a loss with ignore_index, which leaves such rows out"
                           : ""));
    }
    ++result.places;
    if (greatest_class(predictions, classes, place) == label) ++result.hits;
  }
  return result;
}

Hits count_greatest(const Tensor& predictions, const Tensor& targets, std::int64_t places) {
  const Classes classes(predictions);
  Hits result;
  result.places = places;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t found = greatest_class(predictions, classes, place);
    if (found >= 0 && found == greatest_class(targets, classes, place)) ++result.hits;
  }
  return result;
}

}  // namespace

std::int64_t counted_places(const Tensor& targets, std::int64_t rows, const Judgement& judgement) {
  if (!judgement.ignored_label || !is_int(targets.dtype())) return rows;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < targets.size(); ++i)
    if (targets.get_int(i) != *judgement.ignored_label) ++counted;
  return counted;
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {"accuracy", "loss"};
  return names;
}

void check_metric_names(const std::vector<std::string>& metrics) {
  for (const std::string& metric : metrics) {
    if (std::find(metric_names().begin(), metric_names().end(), metric) == metric_names().end()) {
      fail(ErrorClass::Usage, {}, "metric.unknown",
           fmt::format("unknown metric '{}'{}", metric, did_you_mean(metric, metric_names())));
    }
  }
}

Hits count_hits(const Tensor& predictions, const Tensor& targets, std::int64_t rows,
                const Judgement& judgement) {
  const Shape& shape = predictions.shape();
  if (shape.empty() || !is_float(predictions.dtype()) || targets.rank() == 0 ||
      targets.shape().front() != shape.front())
    refuse_shapes(predictions, targets, "floats (n, classes) and integers (n,)");
  RELISH_CHECK(rows <= shape.front());
  const Classes classes(predictions);
  const std::int64_t places = rows * classes.inner;
  if (places == 0) return {};
  if (classes.classes == 1) return count_above(predictions, targets, places, judgement);
  if (targets.shape() == shape && is_float(targets.dtype()))
    return count_greatest(predictions, targets, places);
  Shape labels = shape;
  labels.erase(labels.begin() + 1);
  if (classes.classes == 0 || !is_int(targets.dtype()) || targets.shape() != labels)
    refuse_shapes(predictions, targets,
                  "floats (n, classes) and integers (n,), or floats of the predictions' shape");
  return count_labels(predictions, targets, places, judgement);
}

void check_evaluation(const TrainingProgram& program, const TensorsByName& parameters, const DataSet& data,
                      const EvaluateOptions& options) {
  check_metric_names(options.metrics);
  check_data_set(data);
  for (const std::string& metric : options.metrics) {
    const bool by_loss = metric == "loss";
    const ColumnBinding binding =
        by_loss ? loss_binding(program, parameters, data) : inference_binding(program, parameters, data);
    const std::optional<std::int64_t> fixed = binding.fixed_rows();
    if (by_loss && fixed && data.rows() < *fixed) {
      fail(ErrorClass::Data, data.place, "data.rows",
           fmt::format("{}: found {}; {} takes batches of {}", data.name, counted(data.rows(), "row"),
                       program.loss, counted(*fixed, "row")));
    }
    const std::int64_t rows = fixed.value_or(std::min(options.batch_size, data.rows()));
    std::vector<Tensor> batch = padded_batch(data.columns(), 0, rows, data.rows());
    if (!by_loss) batch.pop_back();
    binding.check_fit(batch, data, options.parameters_place);
  }
}

void refuse_wrong_label(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                        std::span<const Tensor> batch, const DataSet& data, const Failure& failure) {
  const Tensor& targets = batch.back();
  if (failure.diagnostics().front().id != "nll_loss.target" || !is_int(targets.dtype())) return;
  const ColumnBinding binding = inference_binding(program, parameters, data);
  const Value result =
      evaluator.call(program.module, program.inference, binding.arguments(batch.first(batch.size() - 1)));
  const Tensor& predictions = logits_of(result, program.inference);
  const Shape& shape = predictions.shape();
  // As of the losses that take labels: (n, classes, …), or (classes,) of one place.
  if (shape.empty() || !is_float(predictions.dtype())) return;
  const std::int64_t classes = shape.size() == 1 ? shape[0] : shape[1];
  const Tensor& all = data.targets;
  const std::int64_t in_row = all.size() / std::max<std::int64_t>(all.shape().front(), 1);
  for (std::int64_t i = 0; i < all.size(); ++i) {
    const std::int64_t label = all.get_int(i);
    if (label == program.judgement.ignored_label || (label >= 0 && label < classes)) continue;
    Diagnostic diagnostic = failure.diagnostics().front();
    diagnostic.notes.insert(diagnostic.notes.begin(), {diagnostic.span, diagnostic.message});
    diagnostic.error_class = ErrorClass::Data;
    diagnostic.id = "data.label";
    diagnostic.span = data.place;
    diagnostic.message =
        fmt::format("{}: found the label {} in row {} of the targets; expected 0 to {}{}", data.name, label,
                    i / in_row, classes - 1,
                    program.judgement.ignored_label
                        ? fmt::format(", or {}, which is left out", *program.judgement.ignored_label)
                        : "");
    throw Failure(std::move(diagnostic));
  }
}

Metrics evaluate(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, const EvaluateOptions& options) {
  RELISH_CHECK(options.batch_size > 0);
  check_evaluation(program, parameters, data, options);
  Metrics result;
  try {
    for (const std::string& metric : options.metrics) {
      result[metric] = metric == "accuracy"
                           ? accuracy(evaluator, program, parameters, data, options.batch_size)
                           : mean_loss(evaluator, program, parameters, data, options.batch_size);
    }
  } catch (Failure& failure) {
    // Predictions and targets that do not go together.
    if (failure.error_class() == ErrorClass::Data) failure.at(data.place);
    throw;
  }
  return result;
}

}  // namespace relish
