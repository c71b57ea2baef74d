// Bytes as an npy array.
#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  relish::fuzzing::try_loader(data, size, [](const std::string& path) { relish::read_npy(path); });
  return 0;
}
