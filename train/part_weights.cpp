// Weights from targets.
#include "train/part_weights.h"

#include "train/batches.h"

namespace relish {

double weight_of_part(const TrainingProgram& program, const Tensor& targets, std::int64_t rows) {
  return program.loss_is_sum ? 1 : static_cast<double>(counted_places(targets, rows, program.judgement));
}

std::optional<PartWeights> weights_of_parts(const TrainingProgram& program, DType dtype,
                                            const Tensor& targets, const Tensor& order) {
  const std::int64_t steps = order.shape()[0], parts = order.shape()[1], rows = order.shape()[2];
  const bool looks = program.judgement.ignored_label && is_int(targets.dtype()) && !program.loss_is_sum;
  PartWeights result;
  result.tensor = Tensor::empty(dtype, {steps, parts + 1});
  std::vector<std::int64_t> own(static_cast<std::size_t>(rows));
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<double>& weights = result.weights.emplace_back();
    double total = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::int64_t i = 0; looks && i < rows; ++i)
        own[static_cast<std::size_t>(i)] = order.get_int((step * parts + part) * rows + i);
      const double weight = weight_of_part(program, looks ? gather_rows(targets, own) : targets, rows);
      if (weight == 0) return std::nullopt;
      weights.push_back(weight);
      total += weight;
      result.tensor.set_double(step * (parts + 1) + part, weight);
    }
    result.totals.push_back(program.loss_is_sum ? 1 : total);
    result.tensor.set_double(step * (parts + 1) + parts, result.totals.back());
  }
  return result;
}

Tensor PartWeights::joined(const Tensor& losses) const {
  const auto steps = static_cast<std::int64_t>(weights.size());
  Tensor result = Tensor::empty(tensor.dtype(), {steps});
  std::int64_t at = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    double loss = 0;
    for (const double weight : weights[static_cast<std::size_t>(step)])
      loss += weight * losses.get_double(at++);
    result.set_double(step, loss / totals[static_cast<std::size_t>(step)]);
  }
  return result;
}

}  // namespace relish
