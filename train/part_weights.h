// What the batches of a step over several count in it: their rows; of a mean that leaves labels out the
// places that are judged; of a sum each the same.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "train/program.h"

namespace relish {

double weight_of_part(const TrainingProgram& program, const Tensor& targets, std::int64_t rows);

// Of many steps that are done by one call.
struct PartWeights {
  Tensor tensor;                             // (steps, parts + 1): of each step, then of all its parts
  std::vector<std::vector<double>> weights;  // of each step and part
  std::vector<double> totals;

  // The losses of steps from those of all their parts, as a step by itself computes them.
  Tensor joined(const Tensor& losses) const;
};

// Of steps whose rows in `targets` are `order`, (steps, parts, rows). None where a part counts nothing: a
// step by itself leaves it out.
std::optional<PartWeights> weights_of_parts(const TrainingProgram& program, DType dtype,
                                            const Tensor& targets, const Tensor& order);

}  // namespace relish
