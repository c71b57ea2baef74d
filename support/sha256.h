// SHA-256 (FIPS 180-4): what a checkpoint and the functions of a program are known by.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace relish {

class Sha256 {
 public:
  void add(const void* data, std::size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  // 64 hexadecimal digits of all that was added; nothing is added behind it.
  std::string digits();

 private:
  void add_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> open_ = {};  // the block that is not full
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256_of(std::string_view text);

}  // namespace relish
