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

}  // namespace

// Math functions: computed in double and rounded once to the dtype of the expression.
ScalarProgram prepare_math(const IntrinsicCall& node, DType dtype, Slots& slots) {
  ScalarProgram a = prepare(node.args[0], slots);
  const DType operand = node.args[0].dtype();
  const bool answers = info_of(node.intrinsic).result == IntrinsicResult::Bool;
  if (info_of(node.intrinsic).operands == IntrinsicOperands::Integers)
    return prepare_bits(node.intrinsic, operand, std::move(a));
  const auto test = [&](auto f) { return unary(std::move(a), [f](Cell c) { return integer(f(c.real)); }); };
  if (answers && is_float(operand)) {
    switch (node.intrinsic) {
      case Intrinsic::IsNan:
        return test([](double x) { return std::isnan(x); });
      case Intrinsic::IsInf:
        return test([](double x) { return std::isinf(x); });
      default:
        return test([](double x) { return std::isfinite(x); });
    }
  }
  if (answers) {
    return unary(std::move(a),
                 [finite = node.intrinsic == Intrinsic::IsFinite](Cell) { return integer(finite); });
  }
  if (!is_float(dtype)) {  // floor, ceil, round, trunc leave integers alone; abs wraps
    if (node.intrinsic != Intrinsic::Abs || is_unsigned_int(dtype) || is_bool(dtype)) return a;
    ScalarProgram magnitude = unary(std::move(a), [](Cell c) {
      return integer(c.integer < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(c.integer))
                                   : c.integer);
    });
    return prepare_cast(DType::Int64, dtype, std::move(magnitude));
  }
  ScalarProgram second = node.args.size() > 1 ? prepare(node.args[1], slots) : nullptr;
  const auto math = [&](auto f) -> ScalarProgram {
    return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
      using T = decltype(tag);
      return unary(std::move(a), [f](Cell c) { return stored<T>(real(f(c.real))); });
    });
  };
  const auto two = [&](auto f) -> ScalarProgram {
    return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
      using T = decltype(tag);
      return binary_node(std::move(a), std::move(second),
                         [f](Cell x, Cell y) { return stored<T>(real(f(x.real, y.real))); });
    });
  };
  switch (node.intrinsic) {
    case Intrinsic::Exp:
      return math([](double x) { return std::exp(x); });
    case Intrinsic::Exp2:
      return math([](double x) { return std::exp2(x); });
    case Intrinsic::Expm1:
      return math([](double x) { return std::expm1(x); });
    case Intrinsic::Log:
      return math([](double x) { return std::log(x); });
    case Intrinsic::Log2:
      return math([](double x) { return std::log2(x); });
    case Intrinsic::Log1p:
      return math([](double x) { return std::log1p(x); });
    case Intrinsic::Sqrt:
      return math([](double x) { return std::sqrt(x); });
    case Intrinsic::Rsqrt:
      return math([](double x) { return 1.0 / std::sqrt(x); });
    case Intrinsic::Tanh:
      return math([](double x) { return std::tanh(x); });
    case Intrinsic::Sigmoid:
      return math([](double x) { return 1.0 / (1.0 + std::exp(-x)); });
    case Intrinsic::Erf:
      return math([](double x) { return std::erf(x); });
    case Intrinsic::Sin:
      return math([](double x) { return std::sin(x); });
    case Intrinsic::Cos:
      return math([](double x) { return std::cos(x); });
    case Intrinsic::Tan:
      return math([](double x) { return std::tan(x); });
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
    case Intrinsic::Acos:
      return math([](double x) { return std::acos(x); });
    case Intrinsic::Acosh:
      return math([](double x) { return std::acosh(x); });
    case Intrinsic::Asin:
      return math([](double x) { return std::asin(x); });
    case Intrinsic::Asinh:
      return math([](double x) { return std::asinh(x); });
    case Intrinsic::Atan:
      return math([](double x) { return std::atan(x); });
    case Intrinsic::Atanh:
      return math([](double x) { return std::atanh(x); });
    case Intrinsic::Cosh:
      return math([](double x) { return std::cosh(x); });
    case Intrinsic::Sinh:
      return math([](double x) { return std::sinh(x); });
    case Intrinsic::Exp10:
      return math([](double x) { return ::exp10(x); });
    case Intrinsic::Log10:
      return math([](double x) { return std::log10(x); });
    case Intrinsic::Atan2:
      return two([](double x, double y) { return std::atan2(x, y); });
    case Intrinsic::Copysign:
      return two([](double x, double y) { return std::copysign(x, y); });
    case Intrinsic::Hypot:
      return two([](double x, double y) { return std::hypot(x, y); });
    case Intrinsic::Nextafter:
      if (dtype == DType::Float64) return two([](double x, double y) { return std::nextafter(x, y); });
      return two([](double x, double y) {
        return static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(y)));
      });
    case Intrinsic::Ldexp:
      return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
        using T = decltype(tag);
        return binary_node(std::move(a), std::move(second), [](Cell x, Cell y) {
          return stored<T>(real(std::ldexp(x.real, static_cast<int>(y.integer))));
        });
      });
    case Intrinsic::Fma:
      return std::make_unique<FmaNode>(std::move(a), std::move(second), prepare(node.args[2], slots), dtype);
    case Intrinsic::Pow:
      return visit_dtype(dtype, [&](auto tag) -> ScalarProgram {
        using T = decltype(tag);
        return binary_node(std::move(a), std::move(second),
                           [](Cell x, Cell y) { return stored<T>(real(std::pow(x.real, y.real))); });
      });
    default:
      break;
  }
  RELISH_CHECK(false, "intrinsic without a meaning");
}

}  // namespace relish::interp
