// Runtime of compiled code: temporary memory, result tensors, parallel loops and the few conversions that
// machines lack. Compiled code reaches exactly the functions of `runtime_symbols`; it never searches the
// process.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/runtime/context.h"
#include "jit/runtime/host_calls.h"
#include "jit/runtime/kernel_runs.h"
#include "jit/runtime/running_code.h"
#include "runtime/tensor.h"
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
  };
  std::vector<Block> blocks_;
  std::size_t current_ = 0;
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

// A value that compiled code holds by its address.
struct Box {
  Value value;
  std::int64_t owners = 1;
};

class Team;

// State of one call from its entry to its return.
class CallState {
 public:
  CallState(ScratchPool& pool, int threads) : pool(pool), threads(threads) {}

  ScratchPool& pool;
  const int threads;
  Team* team = nullptr;                            // of more than one thread
  std::exception_ptr failure;                      // the first caught Failure
  std::int32_t failure_site = -1;                  // its place, where code tells one
  std::unordered_map<void*, Tensor> tensors;       // made by compiled code, by data pointer
  std::unordered_map<void*, std::int64_t> shares;  // further owners of a tensor that compiled code made
  std::unordered_map<void*, std::unique_ptr<Box>> boxes;
  RunningCode running;
  std::int64_t depth = 0;                  // of calls of recursive functions
  std::vector<KernelRun> kernel_runs;      // of code that is watched
  std::vector<std::int64_t> fault_values;  // found dims, then symbol values, of a failed shape check
  std::mutex mutex;                        // guards `failure`

  void keep_failure();  // call inside a catch block
  void release_tensor(void* data);
  // A box of the value, with one owner.
  void* box(Value value);
  void release_box(void* box);
};

struct RuntimeSymbol {
  std::string_view name;
  void* address;
};
std::span<const RuntimeSymbol> runtime_symbols();

}  // namespace relish::jit
