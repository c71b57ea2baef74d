// Memory of calls of compiled code, and what of it the next calls use again: stacks for what is temporary,
// tensors with owners.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "jit/runtime/known_calls.h"
#include "runtime/value.h"
#include "support/memory_reserve.h"

namespace relish::jit {

// A stack of temporary memory in blocks that count as tensors. Memory is given back in reverse order.
class Scratch {
 public:
  // 64-byte aligned; throws ResourceLimit.
  void* push(std::int64_t bytes);
  // Gives back `pointer` and all that was pushed after it.
  void pop(void* pointer);
  void pop_all();

 private:
  struct Block {
    Tensor memory;
    std::int64_t used = 0;

    std::int64_t free() const { return memory.byte_size() - used; }
  };
  std::int64_t used() const;

  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  std::int64_t most_ = 0;  // bytes that were in use at one time
};

// Blocks that scratch stacks of this process have taken so far.
std::uint64_t scratch_blocks_taken();

// Scratch stacks kept between calls and handed to threads, one at a time each: a function that is called
// again and again takes no memory for what is temporary. Until something else needs the room.
class ScratchPool {
 public:
  ScratchPool();
  std::unique_ptr<Scratch> take();
  void give_back(std::unique_ptr<Scratch> scratch);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
  const MemoryReserve reserve_;
};

// Tensors that compiled code let go of, kept between calls for the next ones of their dtype and size: what
// goes on in the same way takes no memory for them, not even for their shapes. Until something else needs the
// room.
class SpareTensors {
 public:
  SpareTensors();
  // An undefined one where there is none.
  Tensor take(DType dtype, std::int64_t size);
  void give_back(Tensor tensor);

 private:
  static constexpr std::size_t chains = 64;
  static constexpr std::int64_t most_bytes = std::int64_t{64} << 20;

  static std::size_t chain_of(DType dtype, std::int64_t size);
  void clear();
  void let_go();  // with the mutex held

  std::mutex mutex_;
  std::vector<Tensor> free_[chains];
  std::int64_t bytes_ = 0;
  std::atomic<std::size_t> count_{0};  // changed with the mutex held
  const MemoryReserve reserve_;
};

// The tensors that a call has made or was given, by address, each with the number of its owners in compiled
// code.
class OwnedTensors {
 public:
  struct Entry {
    void* data = nullptr;  // null: a free place
    Tensor tensor;
    std::int64_t owners = 0;
    std::int32_t wanted = 0;  // how often it is still to be handed out as part of the result
    bool given = false;       // the caller may have it back
  };

  Entry* find(const void* data);
  // One owner more; its entry.
  Entry& add(Tensor tensor);
  // One owner less; the tensor when it was the last.
  Tensor release(const void* data);
  void clear();

 private:
  std::size_t place_of(const void* data) const;
  void grow();

  std::vector<Entry> entries_;  // as many as a power of two; one found from its place on without a gap
  std::size_t count_ = 0;
};

// The arguments and the result of a call as compiled code sees them.
struct CallSlots {
  // A stored leaf of an argument.
  struct Leaf {
    Value* value;
    const void* data;  // of a tensor
    bool alone;        // nobody but the caller holds the tuples that it is in
  };
  std::vector<std::int64_t> in, out;
  std::vector<Leaf> leaves;

  void clear();
};

// What a call works with. Between calls nothing is in it but the calls that it knows; it keeps its room.
struct CallTools {
  OwnedTensors tensors;
  CallSlots slots;
  Scratch scratch;  // of the thread that called
  KnownCalls known;
};

// What calls use and the next ones use again.
class CallMemory {
 public:
  CallMemory();
  ~CallMemory();
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  ScratchPool scratch;  // of other threads
  SpareTensors spare;
  std::unique_ptr<CallTools> take();
  void give_back(std::unique_ptr<CallTools> tools);

 private:
  void clear();

  // Calls one after the other find here what the one before gave back, without a lock.
  std::atomic<CallTools*> last_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<CallTools>> more_;
  const MemoryReserve reserve_;
};

}  // namespace relish::jit
