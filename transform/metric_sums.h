// What a step tells of its metrics: of each the sums that its mean over an epoch is made of, beside the loss
// and from the same predictions, so that nobody goes over the data again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/nodes/builder.h"

namespace relish {

struct StepMetric {
  std::string name;      // accuracy, top_k, perplexity, mse, mae or r2; or of the function
  std::int64_t k = 5;    // of top_k
  std::string function;  // the user's, of the module: (results..., targets...); empty: one of those names
  std::optional<double> threshold = std::nullopt;
  std::optional<std::int64_t> ignored_label = std::nullopt;
};

// `results`: of the model, the predictions first.
// A float64 tensor of rank 1: for each metric the sum over what is counted, then how many that are; of r2 the
// rows, then for each column the squares that are left, the mean of the targets, and the squares of what they
// are away from it. Undefined where the types do not say how (predictions and targets that do not go
// together, or of unknown shape).
Expr write_metric_sums(FunctionBuilder& builder, Module& module, std::span<const StepMetric> metrics,
                       std::span<const Expr> results, std::span<const Expr> targets);

}  // namespace relish
