// Chunks of a parallel loop, handed to the threads of a team: each has a run of them by itself, so that loops
// of one length find in its cache what the loop before left there, and takes of the others' when its own are
// done.
#include "jit/runtime/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "jit/runtime/runtime.h"
#include "jit/runtime/team.h"

namespace relish::jit {
namespace {

bool interrupted(const RtContext* context) {
  return __atomic_load_n(context->interrupt_flag, __ATOMIC_RELAXED) != 0;
}

// The outcome of the lowest chunk that did not end well.
struct FirstFault {
  std::mutex mutex;
  std::atomic<std::int64_t> chunk{INT64_MAX};
  std::int32_t status = status_ok;
  RtError error;

  void record(std::int64_t at, std::int32_t found, const RtError& found_error) {
    std::lock_guard lock(mutex);
    if (at >= chunk.load(std::memory_order_relaxed)) return;
    chunk.store(at, std::memory_order_relaxed);
    status = found;
    error = found_error;
  }
};

class ParallelLoop {
 public:
  ParallelLoop(RtContext* context, std::int64_t n, std::int64_t chunk, ChunkFn fn, void* data, int threads)
      : context_(context), n_(n), chunk_(chunk), fn_(fn), data_(data) {
    const std::int64_t chunks = (n - 1) / chunk + 1;
    const std::int64_t parts = std::min<std::int64_t>(threads, chunks);
    if (parts > static_cast<std::int64_t>(few_.size()))
      many_ = std::vector<Part>(static_cast<std::size_t>(parts));
    parts_ = many_.empty() ? std::span(few_).first(static_cast<std::size_t>(parts)) : std::span(many_);
    for (std::int64_t p = 0; p < parts; ++p) {
      Part& part = parts_[static_cast<std::size_t>(p)];
      // The first ones are longer by one where it does not come out even.
      part.next = chunks / parts * p + std::min(p, chunks % parts);
      part.end = chunks / parts * (p + 1) + std::min(p + 1, chunks % parts);
    }
  }

  // What one thread does: its part, then what is left of the others.
  void work(int participant) {
    std::unique_ptr<Scratch> scratch;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(static_cast<std::size_t>(participant) + i) % parts_.size()];
      while (part.next.load(std::memory_order_relaxed) < part.end) {
        const std::int64_t c = part.next.fetch_add(1, std::memory_order_relaxed);
        if (c >= part.end || c >= first_.chunk.load(std::memory_order_relaxed)) break;
        if (!run(c, participant, scratch)) return;
      }
    }
    if (scratch) context_->state->memory.scratch.give_back(std::move(scratch));
  }

  std::int32_t outcome() const {
    if (first_.status == status_fault) context_->error = first_.error;
    return first_.status;
  }

 private:
  struct alignas(64) Part {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  // False when nothing more is to be run here.
  bool run(std::int64_t c, int participant, std::unique_ptr<Scratch>& scratch) {
    CallState& state = *context_->state;
    try {
      if (!scratch) scratch = state.memory.scratch.take();
      RtContext own{context_->interrupt_flag, state.rows_ahead.of(participant), &state, scratch.get(), {}};
      own.error.iteration = c * chunk_;
      const std::int32_t status = interrupted(context_)
                                      ? std::int32_t{status_interrupted}
                                      : fn_(&own, c * chunk_, std::min(n_, (c + 1) * chunk_), data_);
      if (status != status_ok) first_.record(c, status, own.error);
      if (status != status_interrupted) return true;
      state.memory.scratch.give_back(std::move(scratch));
    } catch (...) {
      state.keep_failure();
      first_.record(c, status_exception, {});
    }
    return false;
  }

  RtContext* const context_;
  const std::int64_t n_, chunk_;
  const ChunkFn fn_;
  void* const data_;
  // Of a team of few threads without memory of its own: there are many loops in a call.
  std::array<Part, 16> few_;
  std::vector<Part> many_;
  std::span<Part> parts_;
  FirstFault first_;
};

}  // namespace

extern "C" std::int32_t rt_parallel_for(RtContext* context, std::int64_t n, std::int64_t chunk, ChunkFn fn,
                                        void* data) {
  if (n <= 0) return status_ok;
  chunk = std::max<std::int64_t>(chunk, 1);
  const std::int64_t chunks = (n - 1) / chunk + 1;
  CallState& state = *context->state;
  if (state.team && chunks > 1) {
    try {
      ParallelLoop loop(context, n, chunk, fn, data, state.team->threads());
      const auto work = [](void* of, int participant) { static_cast<ParallelLoop*>(of)->work(participant); };
      if (state.team->run(work, &loop)) return loop.outcome();
    } catch (...) {
      state.keep_failure();
      return status_exception;
    }
  }
  // Also inside of a parallel loop, whose threads are at work.
  for (std::int64_t c = 0; c < chunks; ++c) {
    if (interrupted(context)) return status_interrupted;
    const std::int32_t status = fn(context, c * chunk, std::min(n, (c + 1) * chunk), data);
    if (status != status_ok) return status;
  }
  return status_ok;
}

}  // namespace relish::jit
