// Batches of the inference function, in the order of the rows.
#include "train/report/confusion.h"

#include <algorithm>
#include <cmath>

#include "support/interrupt.h"
#include "train/preparation.h"

namespace relish {
namespace {

// Labels, or for two classes the truth of one column.
bool has_labels(const Column& targets) {
  if (!is_int(targets.dtype()) && targets.dtype() != DType::Bool) return false;
  const Shape& shape = targets.shape();
  return shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
}

// The number of classes that predictions tell apart; 0 for none.
std::int64_t classes_of(const Tensor& predictions, const Column& targets, const Judgement& judgement) {
  const Shape& shape = predictions.shape();
  if (!is_float(predictions.dtype()) || shape.empty() || shape.size() > 2) return 0;
  if (shape.size() == 1 || shape[1] == 1) return judgement.threshold ? 2 : 0;
  return targets.shape().size() == 1 && shape[1] <= most_confusion_classes ? shape[1] : 0;
}

// The class of a row; -1 with a NaN.
std::int64_t class_of(const Tensor& predictions, std::int64_t row, std::int64_t classes,
                      const Judgement& judgement) {
  if (predictions.rank() == 1 || predictions.shape()[1] == 1) {
    const double value = predictions.get_double(row);
    return std::isnan(value) ? -1 : static_cast<std::int64_t>(value > *judgement.threshold);
  }
  std::int64_t best = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    const double value = predictions.get_double(row * classes + c);
    if (std::isnan(value)) return -1;
    if (value > predictions.get_double(row * classes + best)) best = c;
  }
  return best;
}

}  // namespace

std::optional<Confusion> count_confusion(Evaluator& evaluator, const TrainingProgram& program,
                                         const TensorsByName& parameters, const DataSet& data,
                                         std::int64_t most_rows, std::int64_t batch_rows) {
  if (data.targets.size() != 1 || !has_labels(data.targets.front())) return std::nullopt;
  const Column& targets = data.targets.front();
  const ColumnBinding binding(program.module, program.inference, parameters, data, data.inputs.size());
  const std::int64_t step = binding.fixed_rows().value_or(batch_rows);
  Confusion result;
  result.all = data.rows();
  result.rows = std::min(result.all, most_rows);
  for (std::int64_t first = 0; first < result.rows; first += step) {
    poll_interrupt();
    // A function of fixed batches gets its full number of rows.
    const std::int64_t whole = std::min(step, result.rows - first);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(binding.fixed_rows() ? step : whole));
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = std::min(first + static_cast<std::int64_t>(i), result.all - 1);
    std::vector<Tensor> batch;
    for (const Column& column : data.inputs) batch.push_back(column.gather(rows));
    const Tensor labels = targets.gather(rows);
    Value value =
        evaluator.call(program.module, program.inference, judged_arguments(binding, program, batch, first));
    if (value.is_tuple() && !value.fields().empty()) value = Value(value.fields().front());
    if (!value.is_tensor()) return std::nullopt;
    const Tensor& predictions = value.tensor();
    if (first == 0) {
      result.classes = classes_of(predictions, targets, program.judgement);
      if (result.classes == 0) return std::nullopt;
      result.counts.assign(static_cast<std::size_t>(result.classes * result.classes), 0);
    }
    for (std::int64_t row = 0; row < whole; ++row) {
      const std::int64_t label = labels.get_int(row);
      if (label == program.judgement.ignored_label || label < 0 || label >= result.classes) continue;
      const std::int64_t found = class_of(predictions, row, result.classes, program.judgement);
      if (found < 0) {
        ++result.unjudged;
      } else {
        ++result.counts[static_cast<std::size_t>(label * result.classes + found)];
      }
    }
  }
  return result;
}

}  // namespace relish
