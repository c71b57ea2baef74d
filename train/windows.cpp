// One window ahead.
#include "train/windows.h"

#include <algorithm>
#include <chrono>

#include "support/limits.h"

namespace relish {

// They stand at positions that follow each other.
std::vector<std::int64_t> rows_of_steps(const BatchOrder& order, std::int64_t first, std::int64_t count) {
  const std::int64_t batches = order.batches_per_epoch(), place = first % batches, last = place + count - 1;
  const std::int64_t begin = place * order.size_of_batch(0);
  const std::int64_t end = last * order.size_of_batch(0) + order.size_of_batch(last);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
  order.rows_at(first / batches, begin, rows);
  return rows;
}

// By the limit alone, so that a job is cut into the same calls whatever else the process holds.
std::int64_t WindowReader::most_steps() const {
  constexpr std::uint64_t most_bytes = 64 << 20, share = 8;
  std::uint64_t row = 0;
  for (const Column& column : columns_) row += column.bytes_of_row();
  const std::uint64_t of_step =
      std::max<std::uint64_t>(row * static_cast<std::uint64_t>(order_.size_of_batch(0)), 1);
  return static_cast<std::int64_t>(
      std::max<std::uint64_t>(std::min(most_bytes, memory_limit() / share) / of_step, 1));
}

WindowReader::Window WindowReader::read(std::int64_t first, std::int64_t count) const {
  return {first, count, gather_batch(columns_, rows_of_steps(order_, first, count))};
}

void WindowReader::start(std::int64_t first, std::int64_t count) {
  next_ = {};
  task_.start([this, first, count] { next_ = read(first, count); });
}

std::vector<Tensor> WindowReader::take(std::int64_t first, std::int64_t count) {
  const auto begin = std::chrono::steady_clock::now();
  // What did not fit beside the steps before may fit now.
  if (const std::optional<Failure> failure = task_.wait();
      failure && failure->error_class() != ErrorClass::ResourceLimit)
    throw Failure(*failure);
  Window window = next_.first == first && next_.count == count ? std::move(next_) : read(first, count);
  waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // As the steps go on: as many as these, up to the end of the epoch; its last batch may be short and alone.
  const std::int64_t batches = order_.batches_per_epoch();
  const std::int64_t next = first + count, place = next % batches;
  std::int64_t size = std::min(count, batches - place);
  const bool short_end = order_.size_of_batch(batches - 1) != order_.size_of_batch(0);
  if (short_end && size > 1 && place + size == batches) --size;
  start(next, std::max<std::int64_t>(size, 1));
  return std::move(window.columns);
}

}  // namespace relish
