// One counter for the whole process.
#include "support/memory.h"

#include <atomic>

#include "support/failure.h"
#include "support/limits.h"
#include "support/memory_reserve.h"

namespace relish {
namespace {

std::atomic<std::uint64_t> held{0};
std::atomic<std::uint64_t> unused{0};  // not counted in `held`

}  // namespace

void fail_memory(std::uint64_t wanted, std::string_view what, std::string_view reason, Span span) {
  fail(ErrorClass::ResourceLimit, span, "memory.limit",
       fmt::format(
           "{} of {} bytes {}; {} bytes are in use and {} are allowed; --memory-limit raises the limit", what,
           wanted, reason, held.load(std::memory_order_relaxed), memory_limit()));
}

void take_memory(std::uint64_t bytes, std::string_view what, Span span) {
  if (bytes == 0) return;
  const std::uint64_t limit = memory_limit();
  if (bytes > limit) fail_memory(bytes, what, "does not fit", span);
  for (const bool last : {false, true}) {
    const std::uint64_t before = held.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes + unused.load(std::memory_order_relaxed) <= limit) return;
    held.fetch_sub(bytes, std::memory_order_relaxed);
    if (!last) give_reserves_back();
  }
  fail_memory(bytes, what, "does not fit", span);
}

void give_memory_back(std::uint64_t bytes) { held.fetch_sub(bytes, std::memory_order_relaxed); }

void add_unused_memory(std::int64_t bytes) {
  unused.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
}

std::uint64_t memory_held() { return held.load(std::memory_order_relaxed); }

}  // namespace relish
