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

#include "jit/runtime/call_memory.h"
#include "jit/runtime/context.h"
#include "jit/runtime/host_calls.h"
#include "jit/runtime/kernel_runs.h"
#include "jit/runtime/rows_ahead.h"
#include "jit/runtime/running_code.h"
#include "runtime/tensor.h"

namespace relish::jit {

// A value that compiled code holds by its address.
struct Box {
  Value value;
  std::int64_t owners = 1;
};

class Team;

// State of one call from its entry to its return.
class CallState {
 public:
  CallState(CallMemory& memory, int threads);
  ~CallState();
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;

  CallMemory& memory;
  const int threads;

 private:
  std::unique_ptr<CallTools> tools_;

 public:
  OwnedTensors& tensors;  // made by compiled code, or given to it
  CallSlots& slots;       // of the entry
  Scratch& scratch;       // of the thread that called
  KnownCalls& known;
  Team* team = nullptr;            // of more than one thread
  std::exception_ptr failure;      // the first caught Failure
  std::int32_t failure_site = -1;  // its place, where code tells one
  RowsAhead rows_ahead;            // of the round that a loop is in
  RtContext* context = nullptr;    // of graph code
  // Something that the caller would have back is lost: the call goes to its end.
  bool lost = false;
  std::unordered_map<void*, std::unique_ptr<Box>> boxes;
  const RunningCode* running = nullptr;
  std::int64_t depth = 0;                  // of calls of recursive functions
  std::vector<KernelRun> kernel_runs;      // of code that is watched
  std::vector<std::int64_t> fault_values;  // found dims, then symbol values, of a failed shape check
  std::mutex mutex;                        // guards `failure`

  void keep_failure();  // call inside a catch block
  void release_tensor(const void* data);
  // Before a tensor is written to, or ends, that the caller may have back.
  void lose(const OwnedTensors::Entry& entry);
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
