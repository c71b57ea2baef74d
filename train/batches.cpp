// Row order from the counter-based permutation, and row copies.
#include "train/batches.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>

#include "runtime/format.h"
#include "runtime/philox.h"

namespace relish {

std::uint64_t Column::bytes_of_row() const {
  auto bytes = static_cast<std::uint64_t>(size_of(dtype()));
  for (std::size_t i = 1; i < shape().size(); ++i) bytes *= static_cast<std::uint64_t>(shape()[i]);
  return bytes;
}

Tensor Column::gather(std::span<const std::int64_t> wanted) const {
  if (!source_) return gather_rows(tensor_, wanted);
  Shape shape = source_->shape();
  shape.front() = static_cast<std::int64_t>(wanted.size());
  Tensor result = Tensor::empty(source_->dtype(), std::move(shape));
  source_->read(wanted, static_cast<std::byte*>(result.mutable_data()));
  return result;
}

std::vector<Column> DataSet::columns() const {
  std::vector<Column> result = inputs;
  result.insert(result.end(), targets.begin(), targets.end());
  return result;
}

bool DataSet::in_memory() const {
  const std::vector<Column> all = columns();
  return std::all_of(all.begin(), all.end(), [](const Column& column) { return column.in_memory(); });
}

void check_data_set(const DataSet& data) {
  const auto refuse = [&](const std::string& message) {
    fail(ErrorClass::Data, data.place, "data.rows", fmt::format("{}: {}", data.name, message));
  };
  const std::vector<Column> columns = data.columns();
  RELISH_CHECK(!columns.empty());
  for (const Column& column : columns) {
    if (!column.defined() || column.shape().empty())
      refuse("found a tensor without rows; expected the rows of a data set along the first dimension");
    if (column.shape().front() != columns.front().shape().front()) {
      const std::int64_t rows = columns.front().shape().front(), others = column.shape().front();
      const bool several = rows > 0 && column.shape().size() == 1 && others > rows && others % rows == 0;
      refuse(fmt::format(
          "found tensors of {} and {} rows; expected the same number of rows in all{}", rows, others,
          several
              ? fmt::format("; y.reshape(({}, {})) of the other has one for each row", rows, others / rows)
              : ""));
    }
  }
  if (columns.front().shape().front() == 0) refuse("found no rows; expected at least one");
}

struct BatchOrder::Kept {
  std::mutex mutex;
  std::int64_t epoch = -1;
  std::shared_ptr<const Permutation> permutation;
};

std::shared_ptr<const Permutation> BatchOrder::permutation_of(std::int64_t epoch) const {
  const std::lock_guard lock(kept_->mutex);
  if (kept_->epoch != epoch) {
    const RandomKey key = fold_in(key_from_seed(options_.seed), static_cast<std::uint64_t>(epoch));
    kept_->permutation = std::make_shared<const Permutation>(key, static_cast<std::uint64_t>(rows_));
    kept_->epoch = epoch;
  }
  return kept_->permutation;
}

BatchOrder::BatchOrder(std::int64_t rows, const BatchOptions& options)
    : rows_(rows), options_(options), kept_(std::make_shared<Kept>()) {
  RELISH_CHECK(rows > 0 && options.batch_size > 0);
  batches_ = rows / options.batch_size;
  if (!options.drop_last && rows % options.batch_size != 0) ++batches_;
}

std::int64_t BatchOrder::rows_per_epoch() const {
  return options_.drop_last ? batches_ * options_.batch_size : rows_;
}

std::int64_t BatchOrder::size_of_batch(std::int64_t batch) const {
  RELISH_CHECK(batch >= 0 && batch < batches_);
  return std::min(options_.batch_size, rows_ - batch * options_.batch_size);
}

std::vector<std::int64_t> BatchOrder::rows_of(std::int64_t epoch, std::int64_t batch) const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(size_of_batch(batch)));
  rows_at(epoch, batch * options_.batch_size, rows);
  return rows;
}

void BatchOrder::rows_at(std::int64_t epoch, std::int64_t first, std::span<std::int64_t> rows) const {
  if (options_.shuffle)
    permutation_of(epoch)->take(static_cast<std::uint64_t>(first), rows);
  else
    std::iota(rows.begin(), rows.end(), first);
}

std::vector<Tensor> gather_batch(std::span<const Column> columns, std::span<const std::int64_t> rows) {
  std::vector<Tensor> batch;
  batch.reserve(columns.size());
  for (const Column& column : columns) batch.push_back(column.gather(rows));
  return batch;
}

Tensor gather_rows(const Tensor& tensor, std::span<const std::int64_t> rows) {
  RELISH_CHECK(tensor.rank() > 0);
  Shape shape = tensor.shape();
  const std::int64_t row_count = shape.front();
  shape.front() = static_cast<std::int64_t>(rows.size());
  Tensor result = Tensor::empty(tensor.dtype(), std::move(shape));
  const std::size_t row_bytes = row_count == 0 ? 0 : static_cast<std::size_t>(tensor.byte_size() / row_count);
  const auto* from = static_cast<const std::byte*>(tensor.data());
  auto* to = static_cast<std::byte*>(result.mutable_data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RELISH_CHECK(rows[i] >= 0 && rows[i] < row_count);
    if (row_bytes > 0)
      std::memcpy(to + i * row_bytes, from + static_cast<std::size_t>(rows[i]) * row_bytes, row_bytes);
  }
  return result;
}

}  // namespace relish
