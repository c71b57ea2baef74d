// The arithmetic of tensor elements: for each storage type the type in which one operator computes (float16
// and bfloat16 in float, integers with wrap-around) and the type in which sums accumulate. Formulas of
// operators are generic over these types and over loop scalars (families/scalar_math.h).
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/calls/fault.h"
#include "runtime/tensor.h"

namespace relish {

// An integer (or bool) with two's complement wrap-around. Division by zero throws RuntimeError; the lowest
// value divided by -1 is itself.
template <class T>
struct Wrapping {
  static_assert(std::is_integral_v<T>);
  using Unsigned = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;

  T value{};

  Wrapping() = default;
  explicit Wrapping(T v) : value(v) {}

  friend Wrapping operator+(Wrapping a, Wrapping b) { return wrap(bits(a) + bits(b)); }
  friend Wrapping operator-(Wrapping a, Wrapping b) { return wrap(bits(a) - bits(b)); }
  friend Wrapping operator*(Wrapping a, Wrapping b) { return wrap(bits(a) * bits(b)); }
  friend Wrapping operator-(Wrapping a) { return wrap(Unsigned{0} - bits(a)); }
  friend Wrapping operator/(Wrapping a, Wrapping b) {
    if (b.value == T{}) fail_fault(Fault{FaultKind::DivisionByZero}, {});
    if constexpr (std::is_signed_v<T>) {
      if (b.value == T{-1}) return -a;
    }
    return Wrapping(static_cast<T>(a.value / b.value));
  }
  friend bool operator==(Wrapping a, Wrapping b) { return a.value == b.value; }
  friend bool operator<(Wrapping a, Wrapping b) { return a.value < b.value; }
  friend bool operator>(Wrapping a, Wrapping b) { return a.value > b.value; }
  friend bool operator<=(Wrapping a, Wrapping b) { return a.value <= b.value; }
  friend bool operator>=(Wrapping a, Wrapping b) { return a.value >= b.value; }

 private:
  static Unsigned bits(Wrapping a) { return static_cast<Unsigned>(a.value); }
  static Wrapping wrap(Unsigned bits) { return Wrapping(static_cast<T>(bits)); }
};

template <class T>
concept StorageFloat = std::same_as<T, Half> || std::same_as<T, BFloat16> || std::floating_point<T>;

namespace detail {
template <class T>
struct ElementTypes {  // integers and bool
  using Compute = Wrapping<T>;
  using Sum = Wrapping<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
};
template <>
struct ElementTypes<double> {
  using Compute = double;
  using Sum = long double;
};
template <>
struct ElementTypes<float> {
  using Compute = float;
  using Sum = double;
};
template <>
struct ElementTypes<Half> : ElementTypes<float> {};
template <>
struct ElementTypes<BFloat16> : ElementTypes<float> {};
}  // namespace detail

// The type in which one operator computes elements of storage type T, rounding once at its end.
template <class T>
using Compute = typename detail::ElementTypes<T>::Compute;
// The type in which sums of T accumulate, one term after the other: wider than T for floats, so that the
// roundings of very many terms do not add up; 64 bits of the same signedness for integers.
template <class T>
using Sum = typename detail::ElementTypes<T>::Sum;

template <class T>
Compute<T> to_compute(T value) {
  return static_cast<Compute<T>>(value);
}
template <class T>
T from_compute(Compute<T> value) {
  if constexpr (StorageFloat<T>)
    return T(value);
  else
    return value.value;
}
// One term of a sum: double for floats.
template <class T>
using Term = std::conditional_t<StorageFloat<T>, double, Sum<T>>;
template <class T>
Term<T> to_sum(T value) {
  if constexpr (StorageFloat<T>)
    return static_cast<double>(static_cast<Compute<T>>(value));
  else
    return Sum<T>(value);
}
template <class T>
T from_sum(Sum<T> value) {
  if constexpr (StorageFloat<T>)
    return static_cast<T>(value);
  else
    return static_cast<T>(value.value);
}

// Conversion as astype does it: floats to integers truncate and saturate, NaN gives 0; anything non-zero (NaN
// too) is true; integers wrap; a float is rounded once.
template <class To, class From>
To convert_element(From from) {
  if constexpr (StorageFloat<From>) {
    const double value = static_cast<double>(static_cast<Compute<From>>(from));
    if constexpr (std::same_as<To, bool>) {
      return value != 0;
    } else if constexpr (StorageFloat<To>) {
      return To(value);
    } else {
      if (std::isnan(value)) return To{};
      // 2^digits is exact as a double, whereas the largest integer of 64 bits is not.
      if (value >= std::ldexp(1.0, std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
      if (value <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
      return static_cast<To>(value);
    }
  } else if constexpr (std::same_as<To, float>) {
    return static_cast<float>(from);
  } else if constexpr (StorageFloat<To>) {
    return To(static_cast<double>(from));
  } else {
    return static_cast<To>(from);
  }
}

// visit_dtype restricted to the four floating dtypes.
template <class F>
decltype(auto) visit_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float16:
      return f(Half{});
    case DType::BFloat16:
      return f(BFloat16{});
    case DType::Float32:
      return f(float{});
    case DType::Float64:
      return f(double{});
    default:
      break;
  }
  internal_failure(__FILE__, __LINE__, "dtype", "a floating dtype was expected");
}

// A tensor with the elements of `x` converted to `dtype`; `x` itself when it has that dtype.
Tensor convert_tensor(const Tensor& x, DType dtype);

}  // namespace relish
