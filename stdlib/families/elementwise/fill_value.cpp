// Which numbers a tensor can hold.
#include "stdlib/families/elementwise/fill_value.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stdlib/families/elementwise/scalars.h"

namespace relish {
namespace {

[[noreturn]] void reject_number(const CallView& call, std::string_view parameter, double number, Span at,
                                DType dtype) {
  call.reject(parameter, at,
              fmt::format("{} is {}, which {} does not hold", parameter, number, name_of(dtype)));
}

struct Ends {
  double least, most;  // of what is held, both with it
};

// The ends of the numbers that a dtype holds: of integers with what is cut off, of floats with what is
// rounded to the largest of them.
Ends ends_of(DType dtype) {
  if (is_float(dtype)) {
    double low = 0, high = std::numeric_limits<double>::max();
    if (std::isfinite(Tensor::scalar(dtype, high).get_double(0))) return {-high, high};
    while (std::nextafter(low, high) < high) {  // the largest that does not become infinite
      const double middle = low + (high - low) / 2;
      (std::isfinite(Tensor::scalar(dtype, middle).get_double(0)) ? low : high) = middle;
    }
    return {-low, low};
  }
  const int bits = 8 * size_of(dtype);
  const double power = std::ldexp(1.0, is_signed_int(dtype) ? bits - 1 : bits);
  return {is_signed_int(dtype) ? -power : 0.0, std::nextafter(power, 0.0)};
}

}  // namespace

void require_element(const CallView& call, std::string_view parameter, double number, Span at,
                     std::optional<DType> dtype) {
  if (!dtype) return;
  const double held = Tensor::scalar(*dtype, number).get_double(0);
  if (is_float(*dtype) ? !std::isfinite(number) || std::isfinite(held) : held == number) return;
  reject_number(call, parameter, number, at, *dtype);
}

void require_in_range(const CallView& call, std::string_view parameter, double number, Span at,
                      std::optional<DType> dtype) {
  if (!dtype || is_bool(*dtype) || !std::isfinite(number)) return;
  const double whole = is_float(*dtype) ? number : std::trunc(number);
  const Ends ends = ends_of(*dtype);
  if (whole >= ends.least && whole <= ends.most) return;
  reject_number(call, parameter, number, at, *dtype);
}

void require_in_range(const CallView& call, std::size_t i, std::string_view parameter,
                      std::optional<DType> dtype) {
  if (const auto* constant = call.args[i].as<Constant>()) {
    if (constant->value.size() == 1 && constant->value.dtype() != dtype)
      require_in_range(call, parameter, constant->value.get_double(0), call.span_of(i), dtype);
  } else if (const auto* scalar = call.args[i].type().as<ScalarType>(); scalar && scalar->dtype != dtype) {
    if (const auto number = literal_number(call, i))
      require_in_range(call, parameter, *number, call.span_of(i), dtype);
  }
}

void require_in_range(Lowering& lowering, std::size_t i, const Scalar& value, DType dtype) {
  const CallView& call = lowering.call();
  if (is_bool(dtype) || value.dtype() == dtype || is_bool(value.dtype()) || literal_number(call, i)) return;
  const Ends ends = ends_of(dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  const Scalar wide = cast(DType::Float64, value);
  const auto number = [](double x) { return float_literal(DType::Float64, x); };
  // What is cut off at an end is less than one away from it.
  const double beside = is_float(dtype) || std::abs(ends.least) >= 0x1p53 ? 0 : 1;
  const Scalar low = beside > 0 ? wide > number(ends.least - 1) : wide >= number(ends.least);
  const Scalar high = beside > 0 ? wide < number(std::floor(ends.most) + 1) : wide <= number(ends.most);
  // A number that is not one is neither below nor beyond the ends.
  const Scalar unusual = logical(
      LogicalOp::Or, logical(LogicalOp::Or, equal(wide, number(infinity)), equal(wide, number(-infinity))),
      logical_not(equal(wide, wide)));
  lowering.require(logical(LogicalOp::Or, logical(LogicalOp::And, low, high), unusual),
                   fmt::format("{}: {} is a number that {} does not hold", call.op.name,
                               call.op.params[i].name, name_of(dtype)));
}

}  // namespace relish
