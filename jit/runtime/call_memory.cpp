// Stacks, spare tensors, tables of owners.
#include "jit/runtime/call_memory.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace relish::jit {
namespace {

std::atomic<std::uint64_t> blocks_taken{0};

}  // namespace

std::int64_t Scratch::used() const {
  std::int64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.used;
  return bytes;
}

void* Scratch::push(std::int64_t bytes) {
  bytes = std::max<std::int64_t>(64, (bytes + 63) / 64 * 64);
  std::size_t at = current_;
  while (at < blocks_.size() && blocks_[at].free() < bytes && blocks_[at].used > 0) ++at;
  const std::int64_t below = used();
  most_ = std::max(most_, below + bytes);
  if (at == blocks_.size() || blocks_[at].free() < bytes) {
    // What is in no use from here on becomes one block of all that was ever in use above what is: pieces
    // would each be too small for something, and more would be held than is used.
    blocks_.resize(at);
    const std::int64_t size = std::max<std::int64_t>(most_ - below, 16 << 10);
    blocks_.push_back({Tensor::empty(DType::UInt8, {size})});
    blocks_taken.fetch_add(1, std::memory_order_relaxed);
  }
  Block& block = blocks_[at];
  char* pointer = static_cast<char*>(block.memory.mutable_data()) + block.used;
  block.used += bytes;
  current_ = at;
  return pointer;
}

void Scratch::pop(void* pointer) {
  char* at = static_cast<char*>(pointer);
  while (!blocks_.empty()) {
    Block& block = blocks_[current_];
    char* begin = static_cast<char*>(block.memory.mutable_data());
    if (at >= begin && at < begin + block.memory.byte_size()) {
      block.used = at - begin;
      return;
    }
    block.used = 0;
    if (current_ == 0) return;
    --current_;
  }
}

void Scratch::pop_all() {
  for (Block& block : blocks_) block.used = 0;
  current_ = 0;
}

std::uint64_t scratch_blocks_taken() { return blocks_taken.load(std::memory_order_relaxed); }

ScratchPool::ScratchPool()
    : reserve_([this] {
        std::vector<std::unique_ptr<Scratch>> unused;
        const std::lock_guard lock(mutex_);
        unused.swap(free_);
      }) {}

std::unique_ptr<Scratch> ScratchPool::take() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> scratch = std::move(free_.back());
  free_.pop_back();
  return scratch;
}

void ScratchPool::give_back(std::unique_ptr<Scratch> scratch) {
  scratch->pop_all();
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(scratch));
}

SpareTensors::SpareTensors() : reserve_([this] { clear(); }) {}

std::size_t SpareTensors::chain_of(DType dtype, std::int64_t size) {
  return (static_cast<std::uint64_t>(size) * 16 + static_cast<std::uint64_t>(dtype)) *
             0x9e3779b97f4a7c15ULL >>
         58;
}

Tensor SpareTensors::take(DType dtype, std::int64_t size) {
  if (count_.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard lock(mutex_);
  std::vector<Tensor>& chain = free_[chain_of(dtype, size)];
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (chain[i].dtype() != dtype || chain[i].size() != size) continue;
    Tensor found = std::move(chain[i]);
    if (i + 1 < chain.size()) chain[i] = std::move(chain.back());
    chain.pop_back();
    bytes_ -= found.byte_size();
    count_.fetch_sub(1, std::memory_order_relaxed);
    return found;
  }
  return {};
}

// What somebody else still sees is none.
void SpareTensors::give_back(Tensor tensor) {
  const std::int64_t bytes = tensor.byte_size();
  if (!tensor.unique() || bytes > most_bytes) return;
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > most_bytes) let_go();
  bytes_ += bytes;
  count_.fetch_add(1, std::memory_order_relaxed);
  free_[chain_of(tensor.dtype(), tensor.size())].push_back(std::move(tensor));
}

void SpareTensors::clear() {
  const std::lock_guard lock(mutex_);
  let_go();
}

void SpareTensors::let_go() {
  for (std::vector<Tensor>& chain : free_) chain.clear();
  bytes_ = 0;
  count_.store(0, std::memory_order_relaxed);
}

std::size_t OwnedTensors::place_of(const void* data) const {
  const auto number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(data)) >> 6;
  return number * 0x9e3779b97f4a7c15ULL >> 32 & (entries_.size() - 1);
}

OwnedTensors::Entry* OwnedTensors::find(const void* data) {
  if (count_ == 0) return nullptr;
  for (std::size_t at = place_of(data);; at = (at + 1) & (entries_.size() - 1)) {
    if (entries_[at].data == data) return &entries_[at];
    if (entries_[at].data == nullptr) return nullptr;
  }
}

void OwnedTensors::grow() {
  std::vector<Entry> before(std::max<std::size_t>(16, entries_.size() * 2));
  before.swap(entries_);
  for (Entry& entry : before) {
    if (entry.data == nullptr) continue;
    std::size_t at = place_of(entry.data);
    while (entries_[at].data != nullptr) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = std::move(entry);
  }
}

OwnedTensors::Entry& OwnedTensors::add(Tensor tensor) {
  void* const data = tensor.mutable_data();
  if (Entry* known = find(data)) {
    ++known->owners;
    return *known;
  }
  if (2 * (count_ + 1) > entries_.size()) grow();
  std::size_t at = place_of(data);
  while (entries_[at].data != nullptr) at = (at + 1) & (entries_.size() - 1);
  entries_[at] = {data, std::move(tensor), 1};
  ++count_;
  return entries_[at];
}

Tensor OwnedTensors::release(const void* data) {
  Entry* const found = find(data);
  if (!found || --found->owners > 0) return {};
  Tensor last = std::move(found->tensor);
  found->data = nullptr;
  --count_;
  // Those behind it move up, so that no gap is between one and its place.
  const std::size_t mask = entries_.size() - 1;
  auto gap = static_cast<std::size_t>(found - entries_.data());
  for (std::size_t at = (gap + 1) & mask; entries_[at].data != nullptr; at = (at + 1) & mask) {
    const std::size_t wanted = place_of(entries_[at].data);
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    entries_[gap] = std::move(entries_[at]);
    entries_[at].data = nullptr;
    gap = at;
  }
  return last;
}

void OwnedTensors::clear() {
  if (count_ == 0) return;
  for (Entry& entry : entries_)
    if (entry.data != nullptr) entry = {};
  count_ = 0;
}

void CallSlots::clear() {
  in.clear();
  out.clear();
  leaves.clear();
}

CallMemory::CallMemory() : reserve_([this] { clear(); }) {}

CallMemory::~CallMemory() { clear(); }

void CallMemory::clear() {
  const std::unique_ptr<CallTools> last(last_.exchange(nullptr));
  std::vector<std::unique_ptr<CallTools>> unused;
  const std::lock_guard lock(mutex_);
  unused.swap(more_);
}

std::unique_ptr<CallTools> CallMemory::take() {
  if (std::unique_ptr<CallTools> last{last_.exchange(nullptr)}) return last;
  const std::lock_guard lock(mutex_);
  if (more_.empty()) return std::make_unique<CallTools>();
  std::unique_ptr<CallTools> tools = std::move(more_.back());
  more_.pop_back();
  return tools;
}

void CallMemory::give_back(std::unique_ptr<CallTools> tools) {
  tools->tensors.clear();
  tools->slots.clear();
  tools->scratch.pop_all();
  std::unique_ptr<CallTools> before(last_.exchange(tools.release()));
  if (!before) return;
  const std::lock_guard lock(mutex_);
  more_.push_back(std::move(before));
}

}  // namespace relish::jit
