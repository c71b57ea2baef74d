// Each row once an epoch, in an order that only seed and epoch decide.
#include "train/batches.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/philox.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

using testing::failure_of;
using Rows = std::vector<std::int64_t>;

Rows rows_of_epoch(const BatchOrder& order, std::int64_t epoch) {
  Rows rows;
  for (std::int64_t batch = 0; batch < order.batches_per_epoch(); ++batch) {
    Rows part = order.rows_of(epoch, batch);
    CHECK(static_cast<std::int64_t>(part.size()) == order.size_of_batch(batch));
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

Rows counted(std::int64_t count) {
  Rows rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(i);
  return rows;
}

TEST_CASE("an epoch holds each row once, and the last batch may be short") {
  for (std::int64_t count : {1, 2, 5, 64, 100, 257}) {
    for (std::int64_t batch_size : {1, 3, 64, 300}) {
      BatchOptions options;
      options.batch_size = batch_size;
      options.seed = 7;
      BatchOrder order(count, options);
      CHECK(order.batches_per_epoch() == (count + batch_size - 1) / batch_size);
      CHECK(order.rows_per_epoch() == count);
      Rows rows = rows_of_epoch(order, 3);
      std::sort(rows.begin(), rows.end());
      CHECK(rows == counted(count));
    }
  }
}

TEST_CASE("a short last batch is dropped where the batch is fixed") {
  BatchOptions options;
  options.batch_size = 8;
  options.drop_last = true;
  BatchOrder order(30, options);
  CHECK(order.batches_per_epoch() == 3);
  CHECK(order.rows_per_epoch() == 24);
  Rows rows = rows_of_epoch(order, 0);
  std::sort(rows.begin(), rows.end());
  CHECK(std::unique(rows.begin(), rows.end()) == rows.end());
  CHECK(rows.size() == 24);
}

TEST_CASE("the order depends on seed and epoch, and not on the batch size") {
  BatchOptions options;
  options.batch_size = 16;
  options.seed = 5;
  BatchOrder order(100, options);
  CHECK(rows_of_epoch(order, 0) == rows_of_epoch(order, 0));
  CHECK(rows_of_epoch(order, 0) != rows_of_epoch(order, 1));
  options.batch_size = 7;
  CHECK(rows_of_epoch(order, 2) == rows_of_epoch(BatchOrder(100, options), 2));
  options.seed = 6;
  CHECK(rows_of_epoch(order, 0) != rows_of_epoch(BatchOrder(100, options), 0));
  // Position by position, as the manual has it.
  CHECK(order.rows_of(2, 1)[3] ==
        static_cast<std::int64_t>(permuted_index(fold_in(key_from_seed(5), 2), 100, 16 + 3)));
  options.shuffle = false;
  CHECK(rows_of_epoch(BatchOrder(100, options), 4) == counted(100));
}

TEST_CASE("rows are gathered whole, in any dtype and rank") {
  std::vector<std::int16_t> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Tensor cube = Tensor::from<std::int16_t>({3, 2, 2}, values);
  Tensor picked = gather_rows(cube, Rows{2, 0, 2, 1});
  CHECK(picked.shape() == Shape{4, 2, 2});
  CHECK(picked.get_int(0) == 8);
  CHECK(picked.get_int(4) == 0);
  CHECK(picked.get_int(11) == 11);
  CHECK(picked.get_int(12) == 4);
  Tensor narrow = gather_rows(Tensor::zeros(DType::Float32, {3, 0}), Rows{1, 1});
  CHECK(narrow.shape() == Shape{2, 0});
  CHECK(gather_rows(cube, Rows{}).shape() == Shape{0, 2, 2});
}

TEST_CASE("a permutation that is written down is that of its positions") {
  for (const std::uint64_t n : {1, 2, 3, 16, 17, 255, 1000, 6400}) {
    const RandomKey key = fold_in(key_from_seed(7), n);
    const Permutation written(key, n);
    for (std::uint64_t i = 0; i < n; ++i) REQUIRE(written(i) == permuted_index(key, n, i));
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, n / 2}) {
      Rows taken(static_cast<std::size_t>(n - std::min(first, n)));
      written.take(first, taken);
      for (std::uint64_t i = first; i < n; ++i)
        REQUIRE(taken[i - first] == static_cast<std::int64_t>(permuted_index(key, n, i)));
    }
  }
  const RandomKey key = key_from_seed(1);
  const std::uint64_t large = (std::uint64_t{1} << 33) + 5;
  CHECK(Permutation(key, large)(large - 1) == permuted_index(key, large, large - 1));
  Rows last(1);
  Permutation(key, large).take(large - 1, last);
  CHECK(last.front() == static_cast<std::int64_t>(permuted_index(key, large, large - 1)));
}

TEST_CASE("columns of a data set have the same rows") {
  Tensor x = Tensor::zeros(DType::Float32, {4, 2});
  CHECK(failure_of([&] { check_data_set({{x}, {Tensor::zeros(DType::Int64, {4})}}); }) == "no failure");
  CHECK(failure_of([&] { check_data_set({{x}, {Tensor::zeros(DType::Int64, {5})}}); }) ==
        "DataError: data: found tensors of 4 and 5 rows; expected the same number of rows in all");
  CHECK(failure_of([&] { check_data_set({{x}, {Tensor::scalar(DType::Float32, 1)}, "validation"}); }) ==
        "DataError: validation: found a tensor without rows; expected the rows of a data set along the first "
        "dimension");
  CHECK(failure_of([&] {
          check_data_set({{Tensor::zeros(DType::Float32, {0, 2})}, {Tensor::zeros(DType::Int64, {0})}});
        }) == "DataError: data: found no rows; expected at least one");
}

}  // namespace
}  // namespace relish
