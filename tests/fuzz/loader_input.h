// A fuzzer's bytes as a file: the loaders of data read paths. The file is memory, without a name in any
// folder.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/tensor.h"
#include "support/failure.h"
#include "support/limits.h"

namespace relish::fuzzing {

class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    while (size > 0) {
      const ssize_t written = ::write(descriptor_, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Runs a loader on the input. It may refuse by a Failure that is no internal error, and may not take more
// memory than a file of that size can hold.
template <class Load>
void try_loader(const std::uint8_t* data, std::size_t size, Load&& load) {
  limits().memory_bytes = std::uint64_t{64} << 20;
  const MemoryFile file(data, size);
  try {
    load(file.path());
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Internal) return;
    std::fprintf(stderr, "finding: an internal error: %s\n", failure.what());
    std::abort();
  }
}

}  // namespace relish::fuzzing
