// Batches of columns that stay in files: the rows of the steps to come are read on a thread of its own while
// those before them are computed with.
#pragma once

#include "train/background_task.h"
#include "train/batches.h"

namespace relish {

class WindowReader {
 public:
  WindowReader(const std::vector<Column>& columns, const BatchOrder& order)
      : columns_(columns), order_(order) {}
  ~WindowReader() { task_.wait(); }

  // How many steps' rows may be held at once, at least 1: those of a call of many steps and as many that are
  // read ahead leave most of the memory to what the steps compute, and no disk wants more at a time.
  std::int64_t most_steps() const;
  // The rows of steps [first, first + count), one batch behind the other. Begins to read as many steps behind
  // them, when there are such in their epoch or the next.
  std::vector<Tensor> take(std::int64_t first, std::int64_t count);
  // Seconds that take has waited for the disk.
  double seconds_waited() const { return waited_; }

 private:
  struct Window {
    std::int64_t first = -1, count = 0;
    std::vector<Tensor> columns;
  };
  Window read(std::int64_t first, std::int64_t count) const;
  void start(std::int64_t first, std::int64_t count);

  const std::vector<Column>& columns_;
  const BatchOrder& order_;
  Window next_;  // written by the task
  BackgroundTask task_;
  double waited_ = 0;
};

// The rows of steps [first, first + count) in the data, one batch behind the other; all of one epoch.
std::vector<std::int64_t> rows_of_steps(const BatchOrder& order, std::int64_t first, std::int64_t count);

}  // namespace relish
