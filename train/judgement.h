// How predictions of classes are judged.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/tensor.h"

namespace relish {

// Predictions of one column are positive above the threshold (none: nobody says), and places with the ignored
// label are left out.
struct Judgement {
  std::optional<double> threshold;
  std::optional<std::int64_t> ignored_label;
};

// What the mean over a batch is a mean of: its rows, or, where a label does not count, the places of those
// that do.
std::int64_t counted_places(const Tensor& targets, std::int64_t rows, const Judgement& judgement);

// The places of predictions (n, classes, ...), whose classes stand along dimension 1.
struct Classes {
  std::int64_t classes = 1;
  std::int64_t inner = 1;

  explicit Classes(const Tensor& predictions);
  std::int64_t index(std::int64_t place, std::int64_t c) const {
    return (place / inner * classes + c) * inner + place % inner;
  }
};

// Judges predictions (n, classes, ...), classes along dimension 1, by targets that are labels (n, ...) or
// values of each class, like the predictions; the greatest counts, the first of equals. Predictions of one
// column, (n,) or (n, 1, ...), are positive above the threshold, targets above 0.5. A place with a NaN is
// wrong; one with the ignored label is not judged. Only the first `rows` rows count. DataError when shapes or
// dtypes do not fit or a label is out of range, UsageError for one column without a threshold.
struct Hits {
  std::int64_t hits = 0;
  std::int64_t places = 0;
};
Hits count_hits(const Tensor& predictions, const Tensor& targets, std::int64_t rows,
                const Judgement& judgement);
// The same where a label is right when fewer than `k` classes have a greater value, or an equal one and stand
// before it. Targets are labels, and predictions have at least k classes.
Hits count_top_hits(const Tensor& predictions, const Tensor& targets, std::int64_t rows, std::int64_t k,
                    const Judgement& judgement);

// -log softmax of the predictions at the labels, summed over the places that count.
struct LogLikelihood {
  double sum = 0;
  std::int64_t places = 0;
};
LogLikelihood negative_log_likelihood(const Tensor& predictions, const Tensor& targets, std::int64_t rows,
                                      const Judgement& judgement);

}  // namespace relish
