// Pieces are taken by their numbers; the first that fails stops the taking.
#include "support/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "support/work_queue.h"

namespace relish {
namespace {

// Fewer are not worth a thread.
constexpr std::size_t least_pieces = 8;
// More threads wait for each other.
constexpr unsigned most_threads = 8;

class Pieces {
 public:
  Pieces(std::size_t count, const std::function<void(std::size_t)>& piece) : count_(count), piece_(piece) {}

  void take() {
    while (true) {
      const std::size_t number = next_.fetch_add(1, std::memory_order_relaxed);
      if (number >= count_) return;
      try {
        piece_(number);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        next_ = count_;
        if (number < failed_) {
          failed_ = number;
          failure_ = std::current_exception();
        }
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t)>& piece_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // over what follows
  std::size_t failed_ = static_cast<std::size_t>(-1);
  std::exception_ptr failure_;
};

}  // namespace

void side_by_side(std::size_t count, const std::function<void(std::size_t)>& piece) {
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, most_threads);
  Pieces pieces(count, piece);
  if (count >= least_pieces && threads > 1) {
    WorkQueue others(static_cast<int>(threads) - 1);
    for (unsigned i = 1; i < threads; ++i) others.add([&pieces] { pieces.take(); });
    pieces.take();
    others.drain();
  } else {
    pieces.take();
  }
  pieces.rethrow();
}

}  // namespace relish
