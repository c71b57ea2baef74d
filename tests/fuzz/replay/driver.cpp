// A fuzz target without libFuzzer: its first inputs, and changes of them by its own mutator. It finds what a
// fixed number of blind changes finds, by the release build's own checks, in seconds; `./dev fuzz` is guided
// by coverage and watched by sanitizers.
//
//   fuzz_replay_TARGET CHANGES FOLDER...
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

namespace {

using Bytes = std::vector<std::uint8_t>;

std::mt19937& numbers() {
  static std::mt19937 engine(1);
  return engine;
}

std::size_t below(std::size_t bound) { return bound == 0 ? 0 : numbers()() % bound; }

Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The input is in a file before it runs, so that what it was is known behind a crash.
void run(const Bytes& input, const std::string& last) {
  {
    std::ofstream file(last, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  }
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

// What libFuzzer gives to mutators: a few bytes changed, removed, inserted or repeated.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size) {
  if (max_size == 0) return 0;
  if (size == 0) {
    data[0] = static_cast<std::uint8_t>(below(256));
    return 1;
  }
  const std::size_t at = below(size);
  switch (below(5)) {
    case 0:
      data[at] ^= static_cast<std::uint8_t>(1U << below(8));
      return size;
    case 1:
      data[at] = static_cast<std::uint8_t>(below(256));
      return size;
    case 2: {
      const std::size_t removed = 1 + below(std::min<std::size_t>(size - at, 16));
      std::copy(data + at + removed, data + size, data + at);
      return std::max<std::size_t>(size - removed, 1);
    }
    case 3: {
      if (size == max_size) return size;
      std::copy_backward(data + at, data + size, data + size + 1);
      data[at] = static_cast<std::uint8_t>(below(256));
      return size + 1;
    }
    default: {
      const std::size_t repeated = std::min({1 + below(16), size - at, max_size - size});
      std::copy_backward(data + at, data + size, data + size + repeated);
      return size + repeated;
    }
  }
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s CHANGES FOLDER...\n", argv[0]);
    return 2;
  }
  const long changes = std::strtol(argv[1], nullptr, 10);
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file() && entry.file_size() <= 1U << 16) files.push_back(entry.path());
  }
  if (files.empty()) {
    std::fprintf(stderr, "no first inputs\n");
    return 2;
  }
  std::sort(files.begin(), files.end());
  const std::string last =
      (std::filesystem::temp_directory_path() / ("relish_fuzz_" + std::to_string(::getpid()))).string() +
      std::filesystem::path(argv[0]).filename().string();
  std::fprintf(stderr, "the input that runs is in %s\n", last.c_str());
  std::vector<Bytes> inputs;
  for (const auto& file : files) inputs.push_back(bytes_of(file));
  for (const Bytes& input : inputs) run(input, last);
  for (long i = 0; i < changes; ++i) {
    Bytes input = inputs[below(inputs.size())];
    const std::size_t size = input.size(), most = size + 256;
    input.resize(most);
    input.resize(LLVMFuzzerCustomMutator(input.data(), size, most, static_cast<unsigned>(i + 1)));
    run(input, last);
  }
  std::filesystem::remove(last);
  std::printf("%zu first inputs and %ld changed ones: no finding\n", inputs.size(), changes);
  return 0;
}
