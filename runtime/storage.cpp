// Blocks of storage and those that are kept. What owners share of a block (their count) stands in front of
// its elements, so that a tensor takes one piece of memory and not two.
#include "runtime/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "support/limits.h"
#include "support/memory.h"
#include "support/memory_reserve.h"

namespace relish {
namespace {

constexpr std::uint64_t line = 64;

struct Block {
  // Of the count of owners while there are any.
  alignas(std::max_align_t) std::byte control[48];
  std::uint64_t bytes = 0;  // behind this line, in whole lines
  bool counted = true;      // against the limit: all but those of empty tensors

  void* elements() { return reinterpret_cast<std::byte*>(this) + line; }
};
static_assert(sizeof(Block) <= line);

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif
#else
constexpr bool keeps = true;
#endif

std::atomic<std::uint64_t> blocks_taken{0}, blocks_reused{0};

// Blocks in no use: the last one in front, where it is found and left by one exchange, the others in chains
// by size, and in the order in which they came.
class KeptBlocks {
 public:
  KeptBlocks() : reserve_([this] { give_all_back(); }) {}

  Block* find(std::uint64_t bytes) {
    if (Block* const front = bytes <= most_in_front ? front_.exchange(nullptr) : nullptr) {
      if (front->bytes == bytes) {
        note_unused(front, -1);
        return front;
      }
      put_in_front(front);
    }
    const std::lock_guard lock(mutex_);
    for (Block* at = chains_[chain_of(bytes)]; at != nullptr; at = links(at).next) {
      if (at->bytes != bytes) continue;
      remove(at);
      note_unused(at, -1);
      return at;
    }
    return nullptr;
  }

  void keep(Block* block) {
    const std::uint64_t most = most_bytes();
    if (!keeps || block->bytes > most) return std::free(block);
    note_unused(block, 1);
    if (block->bytes <= most_in_front)
      put_in_front(block);
    else
      chain(block);
  }

 private:
  // In a block that has no owners, where their count stands otherwise.
  struct Links {
    Block *next, *before;  // of the same chain
    Block *newer, *older;  // of all
  };
  static_assert(sizeof(Links) <= sizeof(Block::control));
  static constexpr std::size_t chains = 1024, most_blocks = 8192;
  // For larger ones a lock is nothing.
  static constexpr std::uint64_t most_in_front = 1 << 20;
  static constexpr std::uint64_t always_kept = std::uint64_t{256} << 20;

  // As much as is in use, so that all results of a call may come back, or what a small program never minds;
  // never so much that the limit is near.
  static std::uint64_t most_bytes() {
    return std::min(std::max(memory_held(), always_kept), memory_limit() / 4);
  }
  static std::size_t chain_of(std::uint64_t bytes) { return bytes / line * 0x9e3779b97f4a7c15ULL >> 54; }
  static void note_unused(const Block* block, int sign) {
    add_unused_memory(sign * static_cast<std::int64_t>(block->bytes));
  }
  static Links& links(Block* block) { return *reinterpret_cast<Links*>(block->control); }

  void put_in_front(Block* block) {
    if (Block* const before = front_.exchange(block)) chain(before);
  }

  void chain(Block* block) {
    const std::uint64_t most = most_bytes();
    const std::lock_guard lock(mutex_);
    add(block);
    while (bytes_ > most || count_ > most_blocks) free_oldest();
  }

  void free_oldest() {
    Block* const block = oldest_;
    remove(block);
    note_unused(block, -1);
    std::free(block);
  }

  void add(Block* block) {
    Block*& chain = chains_[chain_of(block->bytes)];
    new (block->control) Links{chain, nullptr, nullptr, newest_};
    if (chain != nullptr) links(chain).before = block;
    chain = block;
    if (newest_ != nullptr)
      links(newest_).newer = block;
    else
      oldest_ = block;
    newest_ = block;
    bytes_ += block->bytes;
    ++count_;
  }

  void remove(Block* block) {
    const Links at = links(block);
    (at.before != nullptr ? links(at.before).next : chains_[chain_of(block->bytes)]) = at.next;
    if (at.next != nullptr) links(at.next).before = at.before;
    (at.newer != nullptr ? links(at.newer).older : newest_) = at.older;
    (at.older != nullptr ? links(at.older).newer : oldest_) = at.newer;
    bytes_ -= block->bytes;
    --count_;
  }

  void give_all_back() {
    Block* const front = front_.exchange(nullptr);
    const std::lock_guard lock(mutex_);
    if (front != nullptr) add(front);
    while (oldest_ != nullptr) free_oldest();
  }

  std::atomic<Block*> front_{nullptr};
  std::mutex mutex_;
  std::array<Block*, chains> chains_ = {};
  Block *newest_ = nullptr, *oldest_ = nullptr;
  std::uint64_t bytes_ = 0;  // of those in chains
  std::size_t count_ = 0;
  const MemoryReserve reserve_;
};

// Never destroyed: tensors of static objects end later.
KeptBlocks& kept_blocks() {
  static auto* const kept = new KeptBlocks();
  return *kept;
}

// The count of owners stands in the block. When it goes, nobody has the block.
template <class T>
struct InBlock {
  using value_type = T;
  Block* block;

  explicit InBlock(Block* in) : block(in) {}
  template <class U>
  InBlock(const InBlock<U>& other) : block(other.block) {}
  template <class U>
  bool operator==(const InBlock<U>& other) const {
    return block == other.block;
  }
  T* allocate(std::size_t count) {
    static_assert(sizeof(T) <= sizeof(Block::control) && alignof(T) <= alignof(std::max_align_t));
    static_cast<void>(count);
    return reinterpret_cast<T*>(block->control);
  }
  void deallocate(T*, std::size_t) {
    if (block->counted) give_memory_back(block->bytes);
    kept_blocks().keep(block);
  }
};

// Rows that are taken from all over a large tensor lie in as many pages as there are rows: to find small
// pages costs a third of the time of copying from them. The system is asked for large ones; it may have none.
constexpr std::uint64_t large_page = 2 << 20, in_large_pages = large_page;

void* allocated(std::uint64_t bytes) {
  if (bytes < in_large_pages) return std::aligned_alloc(line, bytes);
  void* const made = std::aligned_alloc(large_page, bytes);
  if (made != nullptr) ::madvise(made, bytes / large_page * large_page, MADV_HUGEPAGE);
  return made;
}

void* from_system(std::uint64_t bytes) {
  void* made = allocated(bytes);
  if (made != nullptr) return made;
  give_reserves_back();
  return allocated(bytes);
}

}  // namespace

std::shared_ptr<void> take_storage(std::uint64_t bytes) {
  if (bytes > memory_limit()) fail_memory(bytes, "a tensor", "does not fit");
  const std::uint64_t rounded = (std::max<std::uint64_t>(bytes, 1) + line - 1) / line * line;
  // An empty tensor is never what does not fit.
  const std::uint64_t counted = bytes > 0 ? rounded : 0;
  Block* block = kept_blocks().find(rounded);
  try {
    take_memory(counted, "a tensor");
  } catch (...) {
    std::free(block);
    throw;
  }
  if (block != nullptr) {
    blocks_reused.fetch_add(1, std::memory_order_relaxed);
  } else {
    block = static_cast<Block*>(from_system(rounded + line));
    if (block == nullptr) {
      give_memory_back(counted);
      fail_memory(bytes, "a tensor", "cannot be allocated by the system");
    }
    blocks_taken.fetch_add(1, std::memory_order_relaxed);
  }
  block->bytes = rounded;
  block->counted = bytes > 0;
  return {block->elements(), [](void*) {}, InBlock<std::byte>(block)};
}

StorageCounts storage_counts() {
  return {blocks_taken.load(std::memory_order_relaxed), blocks_reused.load(std::memory_order_relaxed)};
}

bool keeps_storage() { return keeps; }

}  // namespace relish
