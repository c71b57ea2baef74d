// Batches of a data set: which rows stand in which batch of which epoch, and the gathering of rows into a
// tensor. Any position of any epoch is found in O(1), so a job can go on from the middle of an epoch without
// a stored order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/tensor.h"
#include "support/source.h"

namespace relish {

// Columns of equal first dimension: the inputs of a model, then its targets.
struct DataSet {
  std::vector<Tensor> inputs;
  Tensor targets;
  std::string name = "data";  // of the option that gave it; opens messages
  Span place = {};            // where it was given

  std::int64_t rows() const { return targets.shape().front(); }
  // Inputs, then targets.
  std::vector<Tensor> columns() const;
};

// DataError when a column has no rows, or the columns differ in their number of rows.
void check_data_set(const DataSet& data);

struct BatchOptions {
  std::int64_t batch_size = 1;
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool drop_last = false;  // leave out the last batch of an epoch when it is short
};

// The order of rows, epoch by epoch. Every epoch holds each row once (but for a dropped last batch), in an
// order that depends on (seed, epoch) only: position i of epoch e is row permuted_index(fold_in(seed, e),
// rows, i).
class BatchOrder {
 public:
  // `rows` and the batch size are positive.
  BatchOrder(std::int64_t rows, const BatchOptions& options);

  std::int64_t batches_per_epoch() const { return batches_; }
  std::int64_t rows_per_epoch() const;
  // Number of rows of a batch: the batch size, or less for the last one.
  std::int64_t size_of_batch(std::int64_t batch) const;
  // The rows of a batch; epochs and batches count from 0.
  std::vector<std::int64_t> rows_of(std::int64_t epoch, std::int64_t batch) const;

 private:
  std::int64_t rows_;
  std::int64_t batches_;
  BatchOptions options_;
};

// The given rows of a tensor of shape (N, ...), as a tensor (rows.size(), ...). Each row is in [0, N).
Tensor gather_rows(const Tensor& tensor, std::span<const std::int64_t> rows);

}  // namespace relish
