// The number of classes is that of the predictions, by their type or, where that leaves it open, by those of
// one row.
#include "train/labels.h"

#include <algorithm>
#include <span>

#include "support/failure.h"
#include "train/preparation.h"

namespace relish {
namespace {

// Of predictions (n, classes, ...), or (classes,) of one place; none of other shapes.
std::optional<std::int64_t> classes_of(const Value& result) {
  const Value& first = result.is_tuple() && !result.fields().empty() ? result.fields().front() : result;
  if (first.is_tuple() || !first.is_tensor() || !is_float(first.tensor().dtype())) return std::nullopt;
  const Shape& shape = first.tensor().shape();
  if (shape.empty()) return std::nullopt;
  return shape.size() == 1 ? shape[0] : shape[1];
}

std::optional<std::int64_t> classes_by_type(const Function& model) {
  const TupleType* fields = model.result_type.tuple();
  const TensorType* type =
      (fields && !fields->fields.empty() ? fields->fields.front() : model.result_type).tensor();
  if (!type || !type->shape || type->shape->size() < 2) return std::nullopt;
  return (*type->shape)[1].as_int();
}

// The labels of the data as a tensor in memory; null where they are none.
const Tensor* labels_of(const DataSet& data) {
  if (data.targets.empty() || !data.targets.front().in_memory()) return nullptr;
  const Tensor& labels = data.targets.front().tensor();
  return is_int(labels.dtype()) ? &labels : nullptr;
}

// What is said of the first label that is none of so many classes.
std::optional<std::string> wrong_label(const DataSet& data, const Tensor& labels, std::int64_t classes,
                                       const Judgement& judgement) {
  const std::int64_t in_row = labels.size() / std::max<std::int64_t>(labels.shape().front(), 1);
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels.get_int(i);
    if (label == judgement.ignored_label || (label >= 0 && label < classes)) continue;
    return fmt::format(
        "{}: found the label {} in row {} of the targets; expected 0 to {}{}", data.name, label, i / in_row,
        classes - 1,
        (judgement.ignored_label ? fmt::format(", or {}, which is left out", *judgement.ignored_label) : "") +
            (classes == 1 ? "; for one column of predictions the loss is binary_cross_entropy_with_logits"
                          : ""));
  }
  return std::nullopt;
}

Value predictions_of(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                     std::span<const Tensor> inputs, const DataSet& data) {
  const ColumnBinding binding(program.module, program.inference, parameters, data, inputs.size());
  return evaluator.call(program.module, program.inference, judged_arguments(binding, program, inputs, 0));
}

// Of the first rows; none when these do not go through the model as they are.
std::optional<std::int64_t> classes_by_trial(Evaluator& evaluator, const TrainingProgram& program,
                                             const TensorsByName& parameters, const DataSet& data) {
  const ColumnBinding binding(program.module, program.inference, parameters, data, data.inputs.size());
  std::vector<std::int64_t> rows(static_cast<std::size_t>(binding.fixed_rows().value_or(1)));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = std::min(static_cast<std::int64_t>(i), data.rows() - 1);
  try {
    std::vector<Tensor> batch = prepared(evaluator, program, gather_batch(data.columns(), rows));
    batch.resize(data.inputs.size());
    return classes_of(predictions_of(evaluator, program, parameters, batch, data));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted) throw;
    return std::nullopt;
  }
}

}  // namespace

void check_labels(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                  const DataSet& data) {
  const Tensor* labels = labels_of(data);
  if (!labels || !program.judgement.ignored_label || program.returns_loss) return;
  const bool made = std::any_of(program.prepare.begin(), program.prepare.end(),
                                [&](const Preparation& each) { return each.given > data.inputs.size(); });
  if (made) return;
  std::optional<std::int64_t> classes = classes_by_type(*function_to_call(program.module, program.inference));
  if (!classes) classes = classes_by_trial(evaluator, program, parameters, data);
  if (!classes) return;
  if (const auto fault = wrong_label(data, *labels, *classes, program.judgement))
    fail(ErrorClass::Data, data.place, "data.label", *fault);
}

void refuse_wrong_label(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                        std::span<const Tensor> batch, const DataSet& data, const Failure& failure) {
  if (failure.diagnostics().front().id != "nll_loss.target" || program.returns_loss) return;
  const Tensor* labels = labels_of(data);
  if (!labels || !is_int(batch[data.inputs.size()].dtype())) return;
  const std::optional<std::int64_t> classes =
      classes_of(predictions_of(evaluator, program, parameters, batch.first(data.inputs.size()), data));
  const std::optional<std::string> fault =
      classes ? wrong_label(data, *labels, *classes, program.judgement) : std::nullopt;
  if (!fault) return;
  Diagnostic diagnostic = failure.diagnostics().front();
  diagnostic.notes.insert(diagnostic.notes.begin(), {diagnostic.span, diagnostic.message});
  diagnostic.error_class = ErrorClass::Data;
  diagnostic.id = "data.label";
  diagnostic.span = data.place;
  diagnostic.message = *fault;
  throw Failure(std::move(diagnostic));
}

}  // namespace relish
