// Base64, group by group: three bytes are four characters.
#include "support/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace relish {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_digits() {
  std::array<std::int8_t, 256> digits{};
  for (auto& digit : digits) digit = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return digits;
}
constexpr std::array<std::int8_t, 256> digit_of = make_digits();

}  // namespace

void append_base64(std::string& out, const unsigned char* bytes, std::size_t size) {
  for (std::size_t at = 0; at < size; at += 3) {
    std::uint32_t group = bytes[at] << 16;
    if (at + 1 < size) group |= bytes[at + 1] << 8;
    if (at + 2 < size) group |= bytes[at + 2];
    out += alphabet[group >> 18];
    out += alphabet[group >> 12 & 63];
    out += at + 1 < size ? alphabet[group >> 6 & 63] : '=';
    out += at + 2 < size ? alphabet[group & 63] : '=';
  }
}

bool Base64Reader::read(std::string_view piece) {
  if (piece.size() % 4 != 0) return false;
  for (std::size_t i = 0; i < piece.size(); i += 4) {
    std::size_t count = piece[i + 2] == '=' ? 1 : piece[i + 3] == '=' ? 2 : 3;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      int digit = k <= count            ? digit_of[static_cast<unsigned char>(piece[i + k])]
                  : piece[i + k] == '=' ? 0
                                        : -1;
      if (digit < 0) return false;
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    if (count > left_ || (count < 3 && count != left_)) return false;
    for (std::size_t k = 0; k < count; ++k) *at_++ = static_cast<unsigned char>(group >> (16 - 8 * k));
    left_ -= count;
  }
  return true;
}

std::size_t base64_bytes(std::string_view text) {
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::size_t bytes = text.size() / 4 * 3;
  return bytes - std::min(bytes, padding);
}

}  // namespace relish
