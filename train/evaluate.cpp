// Batched evaluation. Sums are taken in double and in row order, so that a metric has the same bits in every
// run.
#include "train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "runtime/format.h"
#include "support/interrupt.h"
#include "support/suggest.h"

namespace relish {
namespace {

const Tensor& logits_of(const Value& result, std::string_view function) {
  const Value* value = &result;
  if (value->is_tuple() && !value->fields().empty()) value = &value->fields().front();
  if (!value->is_tensor()) {
    fail(ErrorClass::Data, {}, "metric.logits",
         fmt::format("accuracy: {} returns {}; expected a tensor of logits", function, describe(*value)));
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

double accuracy(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                const DataSet& data, std::int64_t batch_size) {
  ColumnBinding binding(program.module, program.inference, 0, parameters, data.inputs.size(), "data");
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size);
  const std::int64_t total = data.rows();
  const std::vector<Tensor> columns = data.columns();
  Hits sum;
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t counted = std::min(step, total - first);
    std::vector<Tensor> batch = padded_batch(columns, first, fixed ? step : counted, total);
    Tensor targets = std::move(batch.back());
    batch.pop_back();
    Value result = evaluator.call(program.module, program.inference, binding.arguments({}, batch));
    Hits hits = count_hits(logits_of(result, program.inference), targets, counted);
    sum.hits += hits.hits;
    sum.places += hits.places;
  }
  return sum.places == 0 ? 0 : static_cast<double>(sum.hits) / static_cast<double>(sum.places);
}

// A function of fixed batches sees whole batches only: its mean cannot be taken over a part of the rows.
double mean_loss(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, std::int64_t batch_size) {
  if (program.loss.empty()) {
    fail(ErrorClass::Usage, {}, "metric.loss", "metric 'loss' needs a loss function, and none is given");
  }
  ColumnBinding binding(program.module, program.loss, 0, parameters, data.inputs.size() + 1, "data");
  const std::optional<std::int64_t> fixed = binding.fixed_rows();
  const std::int64_t step = fixed.value_or(batch_size);
  const std::int64_t total = fixed ? data.rows() / step * step : data.rows();
  if (total == 0) {
    fail(ErrorClass::Data, {}, "data.rows",
         fmt::format("loss: found {} rows; {} takes batches of {}", data.rows(), program.loss, step));
  }
  const std::vector<Tensor> columns = data.columns();
  double sum = 0;
  for (std::int64_t first = 0; first < total; first += step) {
    poll_interrupt();
    const std::int64_t rows = std::min(step, total - first);
    std::vector<Tensor> batch = padded_batch(columns, first, rows, total);
    Value result = evaluator.call(program.module, program.loss, binding.arguments({}, batch));
    sum += loss_of(result, program.loss) * program.loss_weight(rows);
  }
  return sum / static_cast<double>(total);
}

double number(double value) { return value; }
double number(float value) { return value; }
double number(Half value) { return static_cast<float>(value); }
double number(BFloat16 value) { return static_cast<float>(value); }

// The first NaN, else the first of the greatest.
template <class T>
std::int64_t argmax(const T* values, std::int64_t count, std::int64_t stride) {
  std::int64_t best = 0;
  double best_value = number(values[0]);
  for (std::int64_t i = 1; i < count && !std::isnan(best_value); ++i) {
    double value = number(values[i * stride]);
    if (value > best_value || std::isnan(value)) {
      best = i;
      best_value = value;
    }
  }
  return best;
}

template <class T>
std::int64_t count_equal(const Tensor& logits, const Tensor& targets, std::int64_t rows, std::int64_t classes,
                         std::int64_t inner) {
  const T* values = logits.view<T>().data();
  std::int64_t hits = 0;
  for (std::int64_t place = 0; place < rows * inner; ++place) {
    const std::int64_t start = place / inner * classes * inner + place % inner;
    if (argmax(values + start, classes, inner) == targets.get_int(place)) ++hits;
  }
  return hits;
}

}  // namespace

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

Hits count_hits(const Tensor& logits, const Tensor& targets, std::int64_t rows) {
  if (!is_int(targets.dtype())) {
    fail(ErrorClass::Data, {}, "metric.targets",
         fmt::format("accuracy: found targets of {}; expected integers", name_of(targets.dtype())));
  }
  Shape expected = logits.shape();
  if (expected.size() >= 2) expected.erase(expected.begin() + 1);
  if (logits.rank() < 2 || logits.shape()[1] == 0 || !is_float(logits.dtype()) ||
      targets.shape() != expected) {
    fail(ErrorClass::Data, {}, "metric.logits",
         fmt::format(
             "accuracy: found logits {} {} and targets {} {}; expected floats (n, classes) and integers (n,)",
             name_of(logits.dtype()), format_shape(logits.shape()), name_of(targets.dtype()),
             format_shape(targets.shape())));
  }
  RELISH_CHECK(rows <= logits.shape().front());
  const std::int64_t classes = logits.shape()[1];
  std::int64_t inner = 1;
  for (std::size_t i = 2; i < logits.shape().size(); ++i) inner *= logits.shape()[i];
  Hits result;
  result.places = rows * inner;
  if (result.places == 0) return result;
  switch (logits.dtype()) {
    case DType::Float16:
      result.hits = count_equal<Half>(logits, targets, rows, classes, inner);
      break;
    case DType::BFloat16:
      result.hits = count_equal<BFloat16>(logits, targets, rows, classes, inner);
      break;
    case DType::Float32:
      result.hits = count_equal<float>(logits, targets, rows, classes, inner);
      break;
    default:
      result.hits = count_equal<double>(logits, targets, rows, classes, inner);
      break;
  }
  return result;
}

Metrics evaluate(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                 const DataSet& data, const EvaluateOptions& options) {
  check_metric_names(options.metrics);
  check_data_set(data, "data");
  RELISH_CHECK(options.batch_size > 0);
  Metrics result;
  for (const std::string& metric : options.metrics) {
    result[metric] = metric == "accuracy"
                         ? accuracy(evaluator, program, parameters, data, options.batch_size)
                         : mean_loss(evaluator, program, parameters, data, options.batch_size);
  }
  return result;
}

}  // namespace relish
