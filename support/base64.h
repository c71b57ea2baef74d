// Base64 (RFC 4648, with padding), written to a string and read into memory of known size piece by piece.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relish {

void append_base64(std::string& out, const unsigned char* bytes, std::size_t size);

// Fills `size` bytes at `bytes` from base64 that comes in pieces, each a whole number of groups of four.
class Base64Reader {
 public:
  Base64Reader(unsigned char* bytes, std::size_t size) : at_(bytes), left_(size) {}

  // False on a wrong character or surplus data.
  bool read(std::string_view piece);
  bool done() const { return left_ == 0; }

 private:
  unsigned char* at_;
  std::size_t left_;
};

// The number of bytes that base64 text of these characters stands for.
std::size_t base64_bytes(std::string_view text);

}  // namespace relish
