// Values of one lane while an elementary function is written down: arithmetic on them emits LLVM
// instructions, so that the functions read as formulas. Every operation is one that LLVM's vectorizer widens
// and that gives the same bits at every width; nothing branches, traps or depends on another lane.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <cstdint>

namespace relish::jit {

// Where the instructions go.
struct LaneBuilder {
  llvm::IRBuilder<>& builder;
  bool fma = false;  // the machine multiplies and adds with one rounding
};

// A truth value.
struct Flag {
  const LaneBuilder* at = nullptr;
  llvm::Value* value = nullptr;
};
Flag operator&(Flag a, Flag b);
Flag operator|(Flag a, Flag b);
Flag operator!(Flag a);

// A float32 or float64, or a vector of them.
struct Number {
  const LaneBuilder* at = nullptr;
  llvm::Value* value = nullptr;

  bool single() const { return value->getType()->getScalarType()->isFloatTy(); }
  // A constant of the same type.
  Number of(double constant) const { return {at, llvm::ConstantFP::get(value->getType(), constant)}; }
};
Number operator+(Number a, Number b);
Number operator-(Number a, Number b);
Number operator*(Number a, Number b);
Number operator/(Number a, Number b);
Number operator-(Number a);
inline Number operator+(Number a, double b) { return a + a.of(b); }
inline Number operator-(Number a, double b) { return a - a.of(b); }
inline Number operator*(Number a, double b) { return a * a.of(b); }
inline Number operator+(double a, Number b) { return b.of(a) + b; }
inline Number operator-(double a, Number b) { return b.of(a) - b; }
inline Number operator*(double a, Number b) { return b.of(a) * b; }
inline Number operator/(double a, Number b) { return b.of(a) / b; }

// Comparisons are false of NaN, but for !=.
Flag operator<(Number a, Number b);
Flag operator>(Number a, Number b);
Flag operator==(Number a, Number b);
Flag operator!=(Number a, Number b);
inline Flag operator<(Number a, double b) { return a < a.of(b); }
inline Flag operator>(Number a, double b) { return a > a.of(b); }
inline Flag operator==(Number a, double b) { return a == a.of(b); }
inline Flag operator!=(Number a, double b) { return a != a.of(b); }
inline Flag is_nan(Number a) { return a != a; }

// a * b + c, with one rounding where the machine can: the functions hold their bounds either way.
Number fused(Number a, Number b, Number c);
inline Number fused(Number a, double b, Number c) { return fused(a, a.of(b), c); }
inline Number fused(Number a, Number b, double c) { return fused(a, b, a.of(c)); }
inline Number fused(Number a, double b, double c) { return fused(a, a.of(b), a.of(c)); }

Number select(Flag condition, Number a, Number b);
inline Number select(Flag condition, Number a, double b) { return select(condition, a, a.of(b)); }
inline Number select(Flag condition, double a, Number b) { return select(condition, b.of(a), b); }
// NaN stays NaN.
inline Number at_most(Number a, double bound) { return select(a > bound, bound, a); }
inline Number at_least(Number a, double bound) { return select(a < bound, bound, a); }

Number magnitude(Number a);
Number with_sign_of(Number a, Number sign);
Number root(Number a);
Number to_nearest(Number a);  // integer, ties to even
Number truncated(Number a);
Number widened(Number a);  // float32 to float64
Number narrowed(Number a);

// The bits of a number, as an integer of its width that wraps.
struct Bits {
  const LaneBuilder* at = nullptr;
  llvm::Value* value = nullptr;

  bool single() const { return value->getType()->getScalarType()->isIntegerTy(32); }
  Bits of(std::int64_t constant) const {
    return {at, llvm::ConstantInt::get(value->getType(), static_cast<std::uint64_t>(constant), true)};
  }
};
Bits bits_of(Number a);
Number number_of(Bits a);  // with these bits
Bits operator+(Bits a, Bits b);
Bits operator-(Bits a, Bits b);
Bits operator&(Bits a, std::int64_t mask);
Bits operator|(Bits a, Bits b);
Bits operator<<(Bits a, int count);
Bits operator>>(Bits a, int count);  // zeros come in
inline Bits operator+(Bits a, std::int64_t b) { return a + a.of(b); }
inline Bits operator-(Bits a, std::int64_t b) { return a - a.of(b); }
Flag operator==(Bits a, std::int64_t b);

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <std::size_t n>
Number polynomial(Number x, const std::array<double, n>& c) {
  Number sum = x.of(c[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) sum = fused(sum, x, c[i]);
  return sum;
}

}  // namespace relish::jit
