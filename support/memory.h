// The count of memory that a program holds for its values: tensors, lists and strs of scripts, what readers
// keep of a file. All of it together stays below --memory-limit: who allocates by what a text or a file says
// takes it from here first.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/source.h"

namespace relish {

// Counts the bytes, or throws ResourceLimit with what is wanted, held and allowed; `what`: "a tensor", "a
// list".
void take_memory(std::uint64_t bytes, std::string_view what, Span span = {});
void give_memory_back(std::uint64_t bytes);
std::uint64_t memory_held();
[[noreturn]] void fail_memory(std::uint64_t wanted, std::string_view what, std::string_view reason,
                              Span span = {});

// Bytes taken for as long as this lives.
class HeldMemory {
 public:
  HeldMemory() = default;
  HeldMemory(std::uint64_t bytes, std::string_view what, Span span = {}) : bytes_(bytes) {
    take_memory(bytes, what, span);
  }
  HeldMemory(HeldMemory&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = 0; }
  HeldMemory& operator=(HeldMemory&& other) noexcept {
    if (this != &other) {
      give_memory_back(bytes_);
      bytes_ = other.bytes_;
      other.bytes_ = 0;
    }
    return *this;
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { give_memory_back(bytes_); }

  std::uint64_t bytes() const { return bytes_; }
  // What grows in place: takes what is missing to `bytes`.
  void grow_to(std::uint64_t bytes, std::string_view what, Span span = {}) {
    if (bytes <= bytes_) return;
    take_memory(bytes - bytes_, what, span);
    bytes_ = bytes;
  }

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace relish
