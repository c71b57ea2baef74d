// Arithmetic on 64-bit sizes that never wraps: lengths, offsets, counts and bytes come from texts and files,
// so any of them may be near the ends of int64. Absent means that the exact result does not fit.
#pragma once

#include <cstdint>
#include <optional>

namespace relish {

using CheckedInt = std::optional<std::int64_t>;

constexpr CheckedInt checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : CheckedInt(result);
}

constexpr CheckedInt checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : CheckedInt(result);
}

constexpr CheckedInt checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : CheckedInt(result);
}

constexpr CheckedInt checked_negate(std::int64_t a) { return checked_sub(0, a); }

// How many numbers begin, begin + step, … lie before `end`; `step` is not 0.
constexpr std::uint64_t range_count(std::int64_t begin, std::int64_t end, std::int64_t step) {
  const bool up = step > 0;
  if (up ? begin >= end : begin <= end) return 0;
  // Distances of two int64 fit uint64, whatever their signs.
  const auto from = static_cast<std::uint64_t>(begin), to = static_cast<std::uint64_t>(end);
  const std::uint64_t distance = up ? to - from : from - to;
  const std::uint64_t width = up ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return (distance - 1) / width + 1;
}

// The same, absent when they are more than int64 counts.
constexpr CheckedInt count_of_range(std::int64_t begin, std::int64_t end, std::int64_t step) {
  const std::uint64_t count = range_count(begin, end, step);
  return count > static_cast<std::uint64_t>(INT64_MAX) ? std::nullopt
                                                       : CheckedInt(static_cast<std::int64_t>(count));
}

}  // namespace relish
