// Python's arithmetic on script numbers.
#include "shell/script/numbers.h"

#include <cmath>
#include <limits>

#include "support/checked.h"

namespace relish {
namespace {

using ast::Operator;

[[noreturn]] void overflow(Span span, std::string_view op) {
  fail(ErrorClass::Runtime, span, "script.overflow",
       fmt::format("the result of '{}' does not fit a 64-bit int; use floats", op));
}

[[noreturn]] void division_by_zero(Span span) {
  fail(ErrorClass::Runtime, span, "script.division", "division by zero");
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b, Span span) {
  if (b == 0) division_by_zero(span);
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) overflow(span, "//");
  std::int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

std::int64_t floor_modulo(std::int64_t a, std::int64_t b, Span span) {
  if (b == 0) division_by_zero(span);
  if (b == -1) return 0;
  std::int64_t remainder = a % b;
  return (remainder != 0 && (remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent, Span span) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if (exponent & 1) {
      const CheckedInt product = relish::checked_mul(result, base);
      if (!product) overflow(span, "**");
      result = *product;
    }
    exponent >>= 1;
    if (exponent == 0) break;
    const CheckedInt square = relish::checked_mul(base, base);
    if (!square) overflow(span, "**");
    base = *square;
  }
  return result;
}

ScriptValue integer_operation(Operator op, std::int64_t a, std::int64_t b, const ScriptValue& left,
                              const ScriptValue& right, Span span) {
  const auto fitting = [&](CheckedInt result) {
    if (!result) overflow(span, ast::text_of(op));
    return *result;
  };
  switch (op) {
    case Operator::Add:
      return fitting(relish::checked_add(a, b));
    case Operator::Sub:
      return fitting(relish::checked_sub(a, b));
    case Operator::Mul:
      return fitting(relish::checked_mul(a, b));
    case Operator::Div:
      if (b == 0) division_by_zero(span);
      // Both fit the 64-bit mantissa of a long double, so the quotient is rounded as if computed exactly.
      return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
    case Operator::FloorDiv:
      return floor_divide(a, b, span);
    case Operator::Mod:
      return floor_modulo(a, b, span);
    case Operator::Pow:
      if (b >= 0) return integer_power(a, b, span);
      if (a == 0) division_by_zero(span);
      return std::pow(static_cast<double>(a), static_cast<double>(b));
    case Operator::ShiftLeft:
      if (b < 0)
        fail(ErrorClass::Runtime, span, "script.shift", fmt::format("shift by {}, which is negative", b));
      if (a == 0) return a;
      if (b >= 63 || (a << b) >> b != a) overflow(span, "<<");
      return a << b;
    case Operator::ShiftRight:
      if (b < 0)
        fail(ErrorClass::Runtime, span, "script.shift", fmt::format("shift by {}, which is negative", b));
      return a >> (b > 63 ? 63 : b);
    case Operator::BitAnd:
      return a & b;
    case Operator::BitOr:
      return a | b;
    case Operator::BitXor:
      return a ^ b;
    default:
      no_operator(op, left, right, span);
  }
}

ScriptValue real_operation(Operator op, double a, double b, const ScriptValue& left, const ScriptValue& right,
                           Span span) {
  switch (op) {
    case Operator::Add:
      return a + b;
    case Operator::Sub:
      return a - b;
    case Operator::Mul:
      return a * b;
    case Operator::Div:
      if (b == 0) division_by_zero(span);
      return a / b;
    case Operator::FloorDiv:
    case Operator::Mod: {
      if (b == 0) division_by_zero(span);
      double remainder = std::fmod(a, b);
      double quotient = (a - remainder) / b;
      if (remainder != 0) {
        if ((b < 0) != (remainder < 0)) {
          remainder += b;
          quotient -= 1;
        }
      } else {
        remainder = std::copysign(0.0, b);
      }
      if (op == Operator::Mod) return remainder;
      if (quotient == 0) return std::copysign(0.0, a / b);
      double floored = std::floor(quotient);
      return quotient - floored > 0.5 ? floored + 1 : floored;
    }
    case Operator::Pow: {
      if (a == 0 && b < 0) division_by_zero(span);
      if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
        fail(ErrorClass::Runtime, span, "script.power",
             "a negative number has no real power with a fraction");
      }
      double result = std::pow(a, b);
      if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
        fail(ErrorClass::Runtime, span, "script.overflow", "the result of '**' does not fit a float");
      }
      return result;
    }
    default:
      no_operator(op, left, right, span);
  }
}

// Exact comparison of an int with a float that is not NaN.
int compare_int_real(std::int64_t a, double b) {
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  double floored = std::floor(b);
  auto whole = static_cast<std::int64_t>(floored);
  if (a != whole) return a < whole ? -1 : 1;
  return b > floored ? -1 : 0;
}

}  // namespace

namespace {

// What is meant most often by an operator of two kinds that do not go together.
std::string_view operator_advice(Operator op, const ScriptValue& a, const ScriptValue& b) {
  const bool equality = op == Operator::Eq || op == Operator::Ne;
  if (equality && (a.is_none() || b.is_none())) return "; write 'is None' or 'is not None'";
  if (op != Operator::Add) return "";
  if ((a.string() && b.is_number()) || (a.is_number() && b.string()))
    return "; write str(…) of the number, or an f-string";
  if (a.string() || b.string()) return "; write an f-string, f\"{…}\"";
  if (a.sequence() && b.sequence()) return a.sequence()->tuple ? "; write tuple(…)" : "; write list(…)";
  return "";
}

}  // namespace

void no_operator(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  fail(ErrorClass::Type, span, "script.operator",
       fmt::format("'{}' is not defined for {} and {}{}", ast::text_of(op), describe(a), describe(b),
                   operator_advice(op, a, b)));
}

ScriptValue number_operation(Operator op, const ScriptValue& a, const ScriptValue& b, Span span) {
  const bool* left_bool = a.as<bool>();
  const bool* right_bool = b.as<bool>();
  if (left_bool && right_bool) {
    if (op == Operator::BitAnd) return *left_bool && *right_bool;
    if (op == Operator::BitOr) return *left_bool || *right_bool;
    if (op == Operator::BitXor) return *left_bool != *right_bool;
  }
  auto left = integer_of(a);
  auto right = integer_of(b);
  if (left && right) return integer_operation(op, *left, *right, a, b, span);
  return real_operation(op, *real_of(a), *real_of(b), a, b, span);
}

ScriptValue number_prefix(ast::PrefixOperator op, const ScriptValue& a, Span span) {
  auto integer = integer_of(a);
  switch (op) {
    case ast::PrefixOperator::Plus:
      if (integer) return *integer;
      return a;
    case ast::PrefixOperator::Minus:
      if (integer) {
        const CheckedInt negated = checked_negate(*integer);
        if (!negated) overflow(span, "-");
        return *negated;
      }
      return -*real_of(a);
    case ast::PrefixOperator::Invert:
      if (integer) return ~*integer;
      fail(ErrorClass::Type, span, "script.operator", "'~' is not defined for a float");
    case ast::PrefixOperator::Not:
      break;
  }
  internal_failure(__FILE__, __LINE__, "prefix", "'not' is no arithmetic");
}

int compare_numbers(const ScriptValue& a, const ScriptValue& b) {
  auto left = integer_of(a);
  auto right = integer_of(b);
  if (left && right) return *left < *right ? -1 : *left > *right ? 1 : 0;
  double x = *real_of(a);
  double y = *real_of(b);
  if (std::isnan(x) || std::isnan(y)) return 2;
  if (left) return compare_int_real(*left, y);
  if (right) return -compare_int_real(*right, x);
  return x < y ? -1 : x > y ? 1 : 0;
}

std::int64_t truncate_to_int(double value, Span span) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) {
    fail(ErrorClass::Runtime, span, "script.overflow",
         fmt::format("the float {} does not fit a 64-bit int", text_of(ScriptValue(value))));
  }
  return static_cast<std::int64_t>(value);
}

double round_half_even(double value) { return std::nearbyint(value); }

std::int64_t checked_add(std::int64_t a, std::int64_t b, Span span) {
  const CheckedInt sum = relish::checked_add(a, b);
  if (!sum) overflow(span, "+");
  return *sum;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, Span span) {
  const CheckedInt product = relish::checked_mul(a, b);
  if (!product) overflow(span, "*");
  return *product;
}

}  // namespace relish
