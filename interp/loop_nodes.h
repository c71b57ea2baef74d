// Operations on cells that prepared scalar expressions are made of, and their parts by kind of expression.
// Internal to interp/.
#pragma once

#include <type_traits>

#include "interp/loop_slots.h"

namespace relish::interp {

template <class F>
struct Unary final : ScalarNodeProgram {
  ScalarProgram a;
  F f;
  Unary(ScalarProgram operand, F function) : a(std::move(operand)), f(std::move(function)) {}
  Cell eval(Frame& frame) const override { return f(a->eval(frame)); }
};

template <class F>
struct BinaryNode final : ScalarNodeProgram {
  ScalarProgram a, b;
  F f;
  BinaryNode(ScalarProgram left, ScalarProgram right, F function)
      : a(std::move(left)), b(std::move(right)), f(std::move(function)) {}
  Cell eval(Frame& frame) const override {
    const Cell left = a->eval(frame);
    return f(left, b->eval(frame));
  }
};

template <class F>
ScalarProgram unary(ScalarProgram a, F f) {
  return std::make_unique<Unary<F>>(std::move(a), std::move(f));
}
template <class F>
ScalarProgram binary_node(ScalarProgram a, ScalarProgram b, F f) {
  return std::make_unique<BinaryNode<F>>(std::move(a), std::move(b), std::move(f));
}

inline Cell integer(std::int64_t v) {
  Cell c;
  c.integer = v;
  return c;
}
inline Cell real(double v) {
  Cell c;
  c.real = v;
  return c;
}

// A value of the storage type T as the cell of that type: the wrap or the one rounding.
template <class T>
Cell stored(Cell c) {
  return to_cell(from_cell<T>(c));
}

template <class T>
inline constexpr bool is_real_v = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                  std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// Integers as their own type, so that signedness and width are those of the dtype.
template <class T>
T typed(Cell c) {
  return static_cast<T>(c.integer);
}

// A conversion: float to integer saturates, NaN gives 0, all else wraps or rounds once.
ScalarProgram prepare_cast(DType from, DType to, ScalarProgram a);
// A math intrinsic (loop_math.cpp).
ScalarProgram prepare_math(const IntrinsicCall& node, DType dtype, Slots& slots);

}  // namespace relish::interp
