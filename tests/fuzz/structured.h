// Mutation of files by their fields: a target takes the input apart, changes a few fields, and puts it
// together again with the lengths and checksums that then belong to it, so that the changes reach the code
// behind those checks. Every fourth input is changed as raw bytes instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace relish::fuzzing {

// The choices of one mutation, all from the fuzzer's seed.
class Choices {
 public:
  explicit Choices(unsigned seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  }

  // A size near something that matters: small, a power of two, an end of a type, or near `value`.
  std::uint64_t size_near(std::uint64_t value) {
    switch (below(6)) {
      case 0:
        return below(5);
      case 1:
        return (std::uint64_t{1} << below(64)) - below(2);
      case 2:
        return value + below(5) - 2;
      case 3:
        return of<std::uint64_t>({0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFFFF});
      case 4:
        return value * below(2000);
      default:
        return engine_();
    }
  }

  // The text with some bytes changed, removed or added by the fuzzer itself.
  std::string mutated(std::string_view text) {
    std::string bytes(text);
    bytes.resize(text.size() + 16);
    auto* data = reinterpret_cast<std::uint8_t*>(bytes.data());
    bytes.resize(LLVMFuzzerMutate(data, text.size(), bytes.size()));
    return bytes;
  }

 private:
  std::mt19937_64 engine_;
};

// Puts `bytes` in the place of the input; unchanged when they do not fit.
inline std::size_t replace_input(const std::string& bytes, std::uint8_t* data, std::size_t size,
                                 std::size_t max_size) {
  if (bytes.empty() || bytes.size() > max_size) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

// `change(choices, input)` is the input with changed fields.
template <class Change>
std::size_t mutate_fields(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                          Change&& change) {
  Choices choices(seed);
  if (choices.one_in(4)) return LLVMFuzzerMutate(data, size, max_size);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  return replace_input(change(choices, input), data, size, max_size);
}

}  // namespace relish::fuzzing
