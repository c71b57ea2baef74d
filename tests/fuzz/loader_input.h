// A fuzzer's bytes as a file: the loaders of data read paths. The file is memory, without a name in any
// folder.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/tensor.h"
#include "support/failure.h"
#include "support/limits.h"

// Without a sanitizer nothing tells of allocations; the limit on memory still holds.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RELISH_FUZZ_WATCHES_ALLOCATIONS
#include <sanitizer/allocator_interface.h>
#endif
#endif

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

// The largest single allocation that is no finding; none while no loader runs.
inline std::size_t allowed_allocation = SIZE_MAX;

inline void check_allocation(const volatile void*, std::size_t size) {
  if (size <= allowed_allocation) return;
  std::fprintf(stderr, "finding: an allocation of %zu bytes; at most %zu are allowed\n", size,
               allowed_allocation);
  std::abort();
}

// Runs a loader on the input. It may refuse by a DataError, told with its rule; and may not allocate more at
// a time than 64 MiB (and a page) or four times the file. Files of the fuzzer are too small to hold more
// memory than the limit that is set here, so that a loader that meets it has trusted an announced size.
template <class Load>
void try_loader(const std::uint8_t* data, std::size_t size, Load&& load) {
#ifdef RELISH_FUZZ_WATCHES_ALLOCATIONS
  static const bool hooked =
      __sanitizer_install_malloc_and_free_hooks(check_allocation, [](const volatile void*) {}) != 0;
  if (!hooked) std::abort();
#endif
  limits().memory_bytes = std::uint64_t{1} << 30;
  const MemoryFile file(data, size);
  allowed_allocation = std::max<std::size_t>((std::size_t{64} << 20) + 4096, 4 * size);
  try {
    load(file.path());
    allowed_allocation = SIZE_MAX;
  } catch (const Failure& failure) {
    allowed_allocation = SIZE_MAX;
    for (const Diagnostic& diagnostic : failure.diagnostics()) {
      if (diagnostic.error_class == ErrorClass::Data && !diagnostic.id.empty()) continue;
      std::fprintf(stderr, "finding: no DataError with a rule: %s\n", failure.what());
      std::abort();
    }
  }
}

}  // namespace relish::fuzzing
