// The vocabulary in which elementwise formulas are written once: each function exists for floats (evaluation)
// and for loop scalars (lowering), so a generic lambda such as `[](const auto& x) { return exp(x); }` serves
// both.
#pragma once

#include <cmath>
#include <concepts>

#include "ir/nodes/scalar.h"
#include "stdlib/families/elementwise/elements.h"

namespace relish {

using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::cos;
using std::cosh;
using std::erf;
using std::exp;
using std::expm1;
using std::log;
using std::log1p;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;

inline Scalar acos(const Scalar& x) { return intrinsic(Intrinsic::Acos, {x}); }
inline Scalar acosh(const Scalar& x) { return intrinsic(Intrinsic::Acosh, {x}); }
inline Scalar asin(const Scalar& x) { return intrinsic(Intrinsic::Asin, {x}); }
inline Scalar asinh(const Scalar& x) { return intrinsic(Intrinsic::Asinh, {x}); }
inline Scalar atan(const Scalar& x) { return intrinsic(Intrinsic::Atan, {x}); }
inline Scalar atan2(const Scalar& y, const Scalar& x) { return intrinsic(Intrinsic::Atan2, {y, x}); }
inline Scalar atanh(const Scalar& x) { return intrinsic(Intrinsic::Atanh, {x}); }
inline Scalar cos(const Scalar& x) { return intrinsic(Intrinsic::Cos, {x}); }
inline Scalar cosh(const Scalar& x) { return intrinsic(Intrinsic::Cosh, {x}); }
inline Scalar erf(const Scalar& x) { return intrinsic(Intrinsic::Erf, {x}); }
inline Scalar exp(const Scalar& x) { return intrinsic(Intrinsic::Exp, {x}); }
inline Scalar expm1(const Scalar& x) { return intrinsic(Intrinsic::Expm1, {x}); }
inline Scalar log(const Scalar& x) { return intrinsic(Intrinsic::Log, {x}); }
inline Scalar log1p(const Scalar& x) { return intrinsic(Intrinsic::Log1p, {x}); }
inline Scalar pow(const Scalar& x, const Scalar& y) { return intrinsic(Intrinsic::Pow, {x, y}); }
inline Scalar sin(const Scalar& x) { return intrinsic(Intrinsic::Sin, {x}); }
inline Scalar sinh(const Scalar& x) { return intrinsic(Intrinsic::Sinh, {x}); }
inline Scalar sqrt(const Scalar& x) { return intrinsic(Intrinsic::Sqrt, {x}); }
inline Scalar tan(const Scalar& x) { return intrinsic(Intrinsic::Tan, {x}); }
inline Scalar tanh(const Scalar& x) { return intrinsic(Intrinsic::Tanh, {x}); }

template <std::floating_point T>
T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
inline Scalar rsqrt(const Scalar& x) { return intrinsic(Intrinsic::Rsqrt, {x}); }

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

// `take` ? a : b.
template <class T>
T choose(bool take, T a, T b) {
  return take ? a : b;
}
inline Scalar choose(const Scalar& take, const Scalar& a, const Scalar& b) { return select(take, a, b); }

// IEEE 754-2019 maximum: NaN propagates, +0 > -0. The loop form is in ir/nodes/scalar.h.
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

// IEEE 754-2019 minimum: NaN propagates, -0 < +0.
template <std::floating_point T>
T minimum_ieee(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
Wrapping<T> minimum_ieee(Wrapping<T> a, Wrapping<T> b) {
  return a < b ? a : b;
}

// The magnitude; of the lowest integer it is that integer itself.
template <std::floating_point T>
T magnitude(T x) {
  return std::fabs(x);
}
template <class T>
Wrapping<T> magnitude(Wrapping<T> x) {
  return x < Wrapping<T>() ? -x : x;
}
inline Scalar magnitude(const Scalar& x) { return intrinsic(Intrinsic::Abs, {x}); }

// Rounding to an integral value; integers are one already. round_even: halves go to the even neighbour.
template <std::floating_point T>
T round_down(T x) {
  return std::floor(x);
}
template <std::floating_point T>
T round_up(T x) {
  return std::ceil(x);
}
template <std::floating_point T>
T round_even(T x) {
  return std::nearbyint(x);
}
template <std::floating_point T>
T round_to_zero(T x) {
  return std::trunc(x);
}
template <class T>
Wrapping<T> round_down(Wrapping<T> x) {
  return x;
}
template <class T>
Wrapping<T> round_up(Wrapping<T> x) {
  return x;
}
template <class T>
Wrapping<T> round_even(Wrapping<T> x) {
  return x;
}
template <class T>
Wrapping<T> round_to_zero(Wrapping<T> x) {
  return x;
}
inline Scalar round_down(const Scalar& x) { return intrinsic(Intrinsic::Floor, {x}); }
inline Scalar round_up(const Scalar& x) { return intrinsic(Intrinsic::Ceil, {x}); }
inline Scalar round_even(const Scalar& x) { return intrinsic(Intrinsic::Round, {x}); }
inline Scalar round_to_zero(const Scalar& x) { return intrinsic(Intrinsic::Trunc, {x}); }

// What kind of number an element is; of integers all are finite.
template <std::floating_point T>
bool is_not_a_number(T x) {
  return std::isnan(x);
}
template <std::floating_point T>
bool is_infinite(T x) {
  return std::isinf(x);
}
template <std::floating_point T>
bool is_finite_number(T x) {
  return std::isfinite(x);
}
template <class T>
bool is_not_a_number(Wrapping<T>) {
  return false;
}
template <class T>
bool is_infinite(Wrapping<T>) {
  return false;
}
template <class T>
bool is_finite_number(Wrapping<T>) {
  return true;
}
inline Scalar is_not_a_number(const Scalar& x) {
  return is_float(x.dtype()) ? intrinsic(Intrinsic::IsNan, {x}) : bool_literal(false);
}
inline Scalar is_infinite(const Scalar& x) {
  return is_float(x.dtype()) ? intrinsic(Intrinsic::IsInf, {x}) : bool_literal(false);
}
inline Scalar is_finite_number(const Scalar& x) {
  return is_float(x.dtype()) ? intrinsic(Intrinsic::IsFinite, {x}) : bool_literal(true);
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

// Truth: what is not 0 is true, NaN too; and back, as 1 and 0 of the kind of `like`.
template <std::floating_point T>
bool truth(T x) {
  return x != 0;
}
template <class T>
bool truth(Wrapping<T> x) {
  return x.value != T{};
}
inline Scalar truth(const Scalar& x) {
  return is_bool(x.dtype()) ? x : compare(CompareOp::Ne, x, zero(x.dtype()));
}
template <class T>
T number_of(bool value, T like) {
  return constant_like(like, value ? 1 : 0);
}
inline Scalar number_of(const Scalar& value, const Scalar& like) { return cast(like.dtype(), value); }

inline bool both(bool a, bool b) { return a && b; }
inline bool either(bool a, bool b) { return a || b; }
inline bool differ(bool a, bool b) { return a != b; }
inline bool opposite(bool a) { return !a; }
inline Scalar both(const Scalar& a, const Scalar& b) { return logical(LogicalOp::And, a, b); }
inline Scalar either(const Scalar& a, const Scalar& b) { return logical(LogicalOp::Or, a, b); }
inline Scalar differ(const Scalar& a, const Scalar& b) { return compare(CompareOp::Ne, a, b); }
inline Scalar opposite(const Scalar& a) { return logical_not(a); }

}  // namespace relish
