// Preparation of math intrinsics: computed in double by the functions of the C library and rounded once to
// the dtype of the expression.
#include <bit>
#include <cmath>

#include "interp/loop_nodes.h"

namespace relish::interp {
namespace {

// Leading zeros and set bits of the pattern of the integer.
ScalarProgram prepare_bits(Intrinsic which, DType dtype, ScalarProgram a) {
  return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using U = std::make_unsigned_t<T>;
      if (which == Intrinsic::Clz)
        return unary(std::move(a),
                     [](Cell c) { return integer(std::countl_zero(static_cast<U>(c.integer))); });
      return unary(std::move(a), [](Cell c) { return integer(std::popcount(static_cast<U>(c.integer))); });
    } else {
      RELISH_CHECK(false, "bits of a float");
    }
  });
}

// a * b + c in one rounding; of halves in float32, then rounded.
struct FmaNode final : ScalarNodeProgram {
  ScalarProgram a, b, c;
  DType dtype;
  FmaNode(ScalarProgram first, ScalarProgram second, ScalarProgram third, DType d)
      : a(std::move(first)), b(std::move(second)), c(std::move(third)), dtype(d) {}
  Cell eval(Frame& frame) const override {
    const double x = a->eval(frame).real, y = b->eval(frame).real, z = c->eval(frame).real;
    if (dtype == DType::Float64) return real(std::fma(x, y, z));
    const Cell single = real(std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)));
    return visit_dtype(dtype, [&](auto tag) { return stored<decltype(tag)>(single); });
  }
};

// Of a float or an integer: is it no number, infinite, finite.
ScalarProgram prepare_test(Intrinsic which, DType operand, ScalarProgram a) {
  if (!is_float(operand))
    return unary(std::move(a), [finite = which == Intrinsic::IsFinite](Cell) { return integer(finite); });
  const auto test = [&](auto f) { return unary(std::move(a), [f](Cell c) { return integer(f(c.real)); }); };
  if (which == Intrinsic::IsNan) return test([](double x) { return std::isnan(x); });
  if (which == Intrinsic::IsInf) return test([](double x) { return std::isinf(x); });
  return test([](double x) { return std::isfinite(x); });
}

// floor, ceil, round, trunc leave integers alone; abs wraps.
ScalarProgram prepare_integer_math(Intrinsic which, DType dtype, ScalarProgram a) {
  if (which != Intrinsic::Abs || is_unsigned_int(dtype) || is_bool(dtype)) return a;
  ScalarProgram magnitude = unary(std::move(a), [](Cell c) {
    return integer(c.integer < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(c.integer))
                                 : c.integer);
  });
  return prepare_cast(DType::Int64, dtype, std::move(magnitude));
}

// The function in double, then the one rounding. A template, so that the function is part of the node.
template <class F>
ScalarProgram rounded_once(DType dtype, ScalarProgram a, F f) {
  return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
    using T = decltype(tag);
    return unary(std::move(a), [f](Cell c) { return stored<T>(real(f(c.real))); });
  });
}

// Functions of one number by kind; each leaves `a` alone and gives null for those of other kinds.

// Exponentials, logarithms and what is made of them.
ScalarProgram prepare_exponential(Intrinsic which, DType dtype, ScalarProgram& a) {
  const auto math = [&](auto f) { return rounded_once(dtype, std::move(a), f); };
  switch (which) {
    case Intrinsic::Exp:
      return math([](double x) { return std::exp(x); });
    case Intrinsic::Exp2:
      return math([](double x) { return std::exp2(x); });
    case Intrinsic::Exp10:
      return math([](double x) { return ::exp10(x); });
    case Intrinsic::Expm1:
      return math([](double x) { return std::expm1(x); });
    case Intrinsic::Log:
      return math([](double x) { return std::log(x); });
    case Intrinsic::Log2:
      return math([](double x) { return std::log2(x); });
    case Intrinsic::Log10:
      return math([](double x) { return std::log10(x); });
    case Intrinsic::Log1p:
      return math([](double x) { return std::log1p(x); });
    case Intrinsic::Sqrt:
      return math([](double x) { return std::sqrt(x); });
    case Intrinsic::Rsqrt:
      return math([](double x) { return 1.0 / std::sqrt(x); });
    case Intrinsic::Sigmoid:
      return math([](double x) { return 1.0 / (1.0 + std::exp(-x)); });
    case Intrinsic::Erf:
      return math([](double x) { return std::erf(x); });
    default:
      return nullptr;
  }
}

// Sines and their kin.
ScalarProgram prepare_trigonometric(Intrinsic which, DType dtype, ScalarProgram& a) {
  const auto math = [&](auto f) { return rounded_once(dtype, std::move(a), f); };
  switch (which) {
    case Intrinsic::Sin:
      return math([](double x) { return std::sin(x); });
    case Intrinsic::Cos:
      return math([](double x) { return std::cos(x); });
    case Intrinsic::Tan:
      return math([](double x) { return std::tan(x); });
    case Intrinsic::Asin:
      return math([](double x) { return std::asin(x); });
    case Intrinsic::Acos:
      return math([](double x) { return std::acos(x); });
    case Intrinsic::Atan:
      return math([](double x) { return std::atan(x); });
    case Intrinsic::Sinh:
      return math([](double x) { return std::sinh(x); });
    case Intrinsic::Cosh:
      return math([](double x) { return std::cosh(x); });
    case Intrinsic::Tanh:
      return math([](double x) { return std::tanh(x); });
    case Intrinsic::Asinh:
      return math([](double x) { return std::asinh(x); });
    case Intrinsic::Acosh:
      return math([](double x) { return std::acosh(x); });
    case Intrinsic::Atanh:
      return math([](double x) { return std::atanh(x); });
    default:
      return nullptr;
  }
}

// Rounding.
ScalarProgram prepare_rounding(Intrinsic which, DType dtype, ScalarProgram& a) {
  const auto math = [&](auto f) { return rounded_once(dtype, std::move(a), f); };
  switch (which) {
    case Intrinsic::Floor:
      return math([](double x) { return std::floor(x); });
    case Intrinsic::Ceil:
      return math([](double x) { return std::ceil(x); });
    case Intrinsic::Round:
      return math([](double x) { return std::nearbyint(x); });  // half to even
    case Intrinsic::Trunc:
      return math([](double x) { return std::trunc(x); });
    case Intrinsic::Abs:
      return math([](double x) { return std::fabs(x); });
    default:
      return nullptr;
  }
}

ScalarProgram prepare_math_of_two(Intrinsic which, DType dtype, ScalarProgram a, ScalarProgram b) {
  const auto cells = [&](auto f) -> ScalarProgram {
    return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
      using T = decltype(tag);
      return binary_node(std::move(a), std::move(b),
                         [f](Cell x, Cell y) { return stored<T>(real(f(x, y))); });
    });
  };
  switch (which) {
    case Intrinsic::Atan2:
      return cells([](Cell x, Cell y) { return std::atan2(x.real, y.real); });
    case Intrinsic::Copysign:
      return cells([](Cell x, Cell y) { return std::copysign(x.real, y.real); });
    case Intrinsic::Hypot:
      return cells([](Cell x, Cell y) { return std::hypot(x.real, y.real); });
    case Intrinsic::Pow:
      return cells([](Cell x, Cell y) { return std::pow(x.real, y.real); });
    case Intrinsic::Ldexp:
      return cells([](Cell x, Cell y) { return std::ldexp(x.real, static_cast<int>(y.integer)); });
    case Intrinsic::Nextafter:
      if (dtype == DType::Float64)
        return cells([](Cell x, Cell y) { return std::nextafter(x.real, y.real); });
      return cells([](Cell x, Cell y) {
        return static_cast<double>(std::nextafter(static_cast<float>(x.real), static_cast<float>(y.real)));
      });
    default:
      RELISH_CHECK(false, "intrinsic without a meaning");
  }
}

}  // namespace

// Math functions: computed in double and rounded once to the dtype of the expression.
ScalarProgram prepare_math(const IntrinsicCall& node, DType dtype, Slots& slots) {
  const Intrinsic which = node.intrinsic;
  const DType operand = node.args[0].dtype();
  ScalarProgram a = prepare(node.args[0], slots);
  if (info_of(which).operands == IntrinsicOperands::Integers)
    return prepare_bits(which, operand, std::move(a));
  if (info_of(which).result == IntrinsicResult::Bool) return prepare_test(which, operand, std::move(a));
  if (!is_float(dtype)) return prepare_integer_math(which, dtype, std::move(a));
  for (const auto prepare_kind : {prepare_exponential, prepare_trigonometric, prepare_rounding})
    if (ScalarProgram made = prepare_kind(which, dtype, a)) return made;
  ScalarProgram second = prepare(node.args[1], slots);
  if (which == Intrinsic::Fma)
    return std::make_unique<FmaNode>(std::move(a), std::move(second), prepare(node.args[2], slots), dtype);
  return prepare_math_of_two(which, dtype, std::move(a), std::move(second));
}

}  // namespace relish::interp
