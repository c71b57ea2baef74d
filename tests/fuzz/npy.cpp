// An npy file: its header's fields, and raw bytes.
#include "runtime/files.h"
#include "tests/fuzz/loader_input.h"
#include "tests/fuzz/npy_fields.h"

using namespace relish::fuzzing;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_fields(data, size, max_size, seed, [](Choices& choices, std::string_view input) {
    NpyFields fields = npy_fields(input);
    for (std::uint64_t i = choices.below(3) + 1; i > 0; --i) change(fields, choices);
    return npy_text(fields);
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_loader(data, size, [](const std::string& path) { relish::read_npy(path); });
  return 0;
}
