// Division, remainders, bits and shifts for formulas of elementwise operators (families/scalar_math.h), with
// the rules of integers in one place: a zero divisor and a negative shift throw RuntimeError, the lowest
// value divided by -1 is itself, a shift by the width or more leaves 0 (to the right of a negative value -1).
#pragma once

#include "stdlib/families/elementwise/scalar_math.h"

namespace relish {

// The quotient rounded toward minus infinity.
template <std::floating_point T>
T floor_quotient(T a, T b) {
  return std::floor(a / b);
}
template <class T>
Wrapping<T> truncated_remainder(Wrapping<T> a, Wrapping<T> b) {
  if (b.value == T{}) fail_fault(Fault{FaultKind::DivisionByZero}, {});
  if constexpr (std::is_signed_v<T>) {
    if (b.value == T{-1}) return Wrapping<T>();
  }
  return Wrapping<T>(static_cast<T>(a.value % b.value));
}
template <class T>
Wrapping<T> floor_quotient(Wrapping<T> a, Wrapping<T> b) {
  const Wrapping<T> quotient = a / b, rest = truncated_remainder(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (rest.value != 0 && (rest.value < 0) != (b.value < 0)) return quotient - Wrapping<T>(T{1});
  }
  return quotient;
}
inline Scalar floor_quotient(const Scalar& a, const Scalar& b) { return binary(BinaryOp::FloorDiv, a, b); }

// The remainder with the sign of the dividend; exact for floats.
template <std::floating_point T>
T truncated_remainder(T a, T b) {
  return std::fmod(a, b);
}
inline Scalar truncated_remainder(const Scalar& a, const Scalar& b) {
  return binary(BinaryOp::TruncMod, a, b);
}

// The remainder with the sign of the divisor.
template <std::floating_point T>
T floored_remainder(T a, T b) {
  const T rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class T>
Wrapping<T> floored_remainder(Wrapping<T> a, Wrapping<T> b) {
  const Wrapping<T> rest = truncated_remainder(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (rest.value != 0 && (rest.value < 0) != (b.value < 0)) return rest + b;
  }
  return rest;
}
inline Scalar floored_remainder(const Scalar& a, const Scalar& b) { return binary(BinaryOp::FloorMod, a, b); }

// Bit by bit; bools are one bit wide.
template <class T>
Wrapping<T> bits_and(Wrapping<T> a, Wrapping<T> b) {
  return Wrapping<T>(static_cast<T>(a.value & b.value));
}
template <class T>
Wrapping<T> bits_or(Wrapping<T> a, Wrapping<T> b) {
  return Wrapping<T>(static_cast<T>(a.value | b.value));
}
template <class T>
Wrapping<T> bits_xor(Wrapping<T> a, Wrapping<T> b) {
  return Wrapping<T>(static_cast<T>(a.value ^ b.value));
}
template <class T>
Wrapping<T> bits_not(Wrapping<T> a) {
  if constexpr (std::same_as<T, bool>)
    return Wrapping<T>(!a.value);
  else
    return Wrapping<T>(static_cast<T>(~a.value));
}
inline Scalar bits_and(const Scalar& a, const Scalar& b) { return binary(BinaryOp::BitAnd, a, b); }
inline Scalar bits_or(const Scalar& a, const Scalar& b) { return binary(BinaryOp::BitOr, a, b); }
inline Scalar bits_xor(const Scalar& a, const Scalar& b) { return binary(BinaryOp::BitXor, a, b); }
inline Scalar bits_not(const Scalar& a) {
  if (is_bool(a.dtype())) return logical_not(a);
  const Scalar ones = is_signed_int(a.dtype()) ? int_literal(a.dtype(), -1) : max_value(a.dtype());
  return binary(BinaryOp::BitXor, a, ones);
}

template <class T>
Wrapping<T> shifted_left(Wrapping<T> a, Wrapping<T> count) {
  using Wide = std::make_unsigned_t<std::conditional_t<std::same_as<T, bool>, int, T>>;
  if (count < Wrapping<T>())
    fail_fault({FaultKind::NegativeShift, {}, {static_cast<std::int64_t>(count.value)}}, {});
  if (static_cast<std::uint64_t>(count.value) >= 8 * sizeof(T)) return Wrapping<T>();
  return Wrapping<T>(static_cast<T>(static_cast<std::uint64_t>(static_cast<Wide>(a.value)) << count.value));
}
template <class T>
Wrapping<T> shifted_right(Wrapping<T> a, Wrapping<T> count) {
  if (count < Wrapping<T>())
    fail_fault({FaultKind::NegativeShift, {}, {static_cast<std::int64_t>(count.value)}}, {});
  if (static_cast<std::uint64_t>(count.value) >= 8 * sizeof(T))
    return a < Wrapping<T>() ? bits_not(Wrapping<T>()) : Wrapping<T>();
  return Wrapping<T>(static_cast<T>(a.value >> count.value));
}
inline Scalar shifted_left(const Scalar& a, const Scalar& b) { return binary(BinaryOp::ShiftLeft, a, b); }
inline Scalar shifted_right(const Scalar& a, const Scalar& b) { return binary(BinaryOp::ShiftRight, a, b); }

}  // namespace relish
