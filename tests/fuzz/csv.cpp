// Bytes as a CSV table.
#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  relish::fuzzing::try_loader(data, size, [](const std::string& path) { relish::read_csv(path); });
  return 0;
}
