// Memory of tensors: blocks aligned to 64 bytes and counted against the memory limit. A block whose last
// owner let go is kept for the next tensor of its size, so that what goes on in the same way (a call that is
// repeated, a step of training, a loop) takes no memory from the system. What is kept is in no use and counts
// as such: it is given back before anything is refused.
#pragma once

#include <cstdint>
#include <memory>

namespace relish {

// At least one line, so that the address of an empty tensor is valid too. Throws ResourceLimit.
std::shared_ptr<void> take_storage(std::uint64_t bytes);

// Of this process so far.
struct StorageCounts {
  std::uint64_t taken = 0;   // blocks that the system gave
  std::uint64_t reused = 0;  // blocks that were kept and used again
};
StorageCounts storage_counts();

// Whether blocks are kept at all: not in builds that look for uses behind the end of a tensor's life.
bool keeps_storage();

}  // namespace relish
