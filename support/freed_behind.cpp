// One thread at a time frees.
#include "support/freed_behind.h"

#include <mutex>
#include <system_error>
#include <thread>

#include "support/big_stack.h"

namespace relish {
namespace {

class Freeing {
 public:
  ~Freeing() { wait(); }

  void start(std::shared_ptr<void> value) {
    std::lock_guard lock(mutex_);
    wait();
    try {
      // Freeing follows the nesting of what is freed.
      thread_ = std::thread([held = std::move(value)]() mutable { with_big_stack([&] { held.reset(); }); });
    } catch (const std::system_error&) {
      // No thread is to be had: it is freed here.
    }
  }

 private:
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

  std::mutex mutex_;
  std::thread thread_;
};

}  // namespace

void free_behind(std::shared_ptr<void> value) {
  static Freeing freeing;
  freeing.start(std::move(value));
}

}  // namespace relish
