// Batches of a data set: which rows stand in which batch of which epoch, and the gathering of rows into a
// tensor. Any position of any epoch is found in O(1), so a job can go on from the middle of an epoch without
// a stored order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/permutation.h"
#include "runtime/row_files.h"
#include "runtime/tensor.h"
#include "support/source.h"

namespace relish {

// A column of a data set, rows along the first dimension: a tensor, or rows that stay in files.
class Column {
 public:
  Column() = default;
  Column(Tensor tensor) : tensor_(std::move(tensor)) {}
  explicit Column(std::shared_ptr<const RowSource> source) : source_(std::move(source)) {}

  bool defined() const { return source_ != nullptr || tensor_.defined(); }
  bool in_memory() const { return source_ == nullptr; }
  const Tensor& tensor() const { return tensor_; }  // of one in memory
  Tensor& tensor() { return tensor_; }
  DType dtype() const { return source_ ? source_->dtype() : tensor_.dtype(); }
  const Shape& shape() const { return source_ ? source_->shape() : tensor_.shape(); }
  std::int64_t rows() const { return shape().front(); }
  std::uint64_t bytes_of_row() const;
  // The given rows, each in [0, rows()), as a tensor (count, ...). Of files: DataError, IOError.
  Tensor gather(std::span<const std::int64_t> rows) const;

 private:
  Tensor tensor_;
  std::shared_ptr<const RowSource> source_;
};

// Columns of equal first dimension: the inputs of a model, then its targets.
struct DataSet {
  std::vector<Column> inputs;
  std::vector<Column> targets;
  std::string name = "data";  // of the option that gave it; opens messages
  Span place = {};            // where it was given

  std::int64_t rows() const { return (targets.empty() ? inputs : targets).front().rows(); }
  // Inputs, then targets.
  std::vector<Column> columns() const;
  bool in_memory() const;
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
  // The rows at the positions of an epoch from `first` on.
  void rows_at(std::int64_t epoch, std::int64_t first, std::span<std::int64_t> rows) const;

 private:
  std::shared_ptr<const Permutation> permutation_of(std::int64_t epoch) const;

  std::int64_t rows_;
  std::int64_t batches_;
  BatchOptions options_;
  // The permutation that was wanted last, of one thread or another.
  struct Kept;
  std::shared_ptr<Kept> kept_;
};

// The given rows of each column.
std::vector<Tensor> gather_batch(std::span<const Column> columns, std::span<const std::int64_t> rows);
// The given rows of a tensor of shape (N, ...), as a tensor (rows.size(), ...). Each row is in [0, N).
Tensor gather_rows(const Tensor& tensor, std::span<const std::int64_t> rows);

}  // namespace relish
