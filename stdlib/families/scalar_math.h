// The vocabulary in which elementwise formulas are written once: each function exists for floats (evaluation)
// and for loop scalars (lowering), so a generic lambda such as `[](auto x) { return exp(x); }` serves both.
#pragma once

#include <cmath>
#include <concepts>

#include "ir/scalar.h"
#include "stdlib/families/elements.h"

namespace relish {

using std::exp;
using std::log;
using std::sqrt;
using std::tanh;

inline Scalar exp(const Scalar& x) { return intrinsic(Intrinsic::Exp, {x}); }
inline Scalar log(const Scalar& x) { return intrinsic(Intrinsic::Log, {x}); }
inline Scalar sqrt(const Scalar& x) { return intrinsic(Intrinsic::Sqrt, {x}); }
inline Scalar tanh(const Scalar& x) { return intrinsic(Intrinsic::Tanh, {x}); }

// 1 / (1 + e^-x), without overflow and without loss of the small values for negative x.
template <std::floating_point T>
T sigmoid(T x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const T e = std::exp(x);
  return e / (1 + e);
}
inline Scalar sigmoid(const Scalar& x) { return intrinsic(Intrinsic::Sigmoid, {x}); }

// 0 and 1 of the kind and dtype of `like`.
template <std::floating_point T>
T constant_like(T, double value) {
  return static_cast<T>(value);
}
template <class T>
Wrapping<T> constant_like(Wrapping<T>, double value) {
  return Wrapping<T>(static_cast<T>(value));
}
inline Scalar constant_like(const Scalar& like, double value) { return literal(like.dtype(), value); }

template <std::floating_point T>
T negate(T x) {
  return -x;
}
template <class T>
Wrapping<T> negate(Wrapping<T> x) {
  return -x;
}
// The product with -1 is exact for floats, signs of zeros included; 0 - x would turn 0 into 0.
inline Scalar negate(const Scalar& x) {
  return is_float(x.dtype()) ? x * float_literal(x.dtype(), -1.0) : zero(x.dtype()) - x;
}

// IEEE 754-2019 maximum: NaN propagates, +0 > -0. The loop form is in ir/scalar.h.
template <std::floating_point T>
T maximum_ieee(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
Wrapping<T> maximum_ieee(Wrapping<T> a, Wrapping<T> b) {
  return a > b ? a : b;
}

template <class T>
bool equal(T a, T b) {
  return a == b;
}
template <class T>
bool not_equal(T a, T b) {
  return !(a == b);
}
inline Scalar not_equal(const Scalar& a, const Scalar& b) { return compare(CompareOp::Ne, a, b); }

}  // namespace relish
