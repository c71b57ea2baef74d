// Numbers written beside a tensor.
#include "runtime/literal.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "runtime/format.h"
#include "support/failure.h"

namespace relish {
namespace {

[[noreturn]] void refuse(Span span, std::string message) {
  fail(ErrorClass::Type, span, "literal.tensor", std::move(message));
}

[[noreturn]] void no_such_value(const std::string& number, DType dtype, Span span) {
  refuse(span,
         fmt::format("found {} beside a tensor of {}, which has no such value", number, name_of(dtype)));
}

}  // namespace

bool holds_integer(DType dtype, std::int64_t value) {
  if (is_float(dtype)) {
    const double back = Tensor::scalar(dtype, static_cast<double>(value)).get_double(0);
    // 2^63 is the nearest double of the largest integers, and none itself.
    return back >= -9223372036854775808.0 && back < 9223372036854775808.0 &&
           static_cast<std::int64_t>(back) == value && static_cast<double>(value) == back;
  }
  if (is_bool(dtype)) return value == 0 || value == 1;
  if (dtype == DType::Int64) return true;
  if (dtype == DType::UInt64) return value >= 0;
  const int bits = size_of(dtype) * 8;
  if (is_unsigned_int(dtype)) return value >= 0 && value < (std::int64_t{1} << bits);
  return value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1));
}

Tensor tensor_of_literal(const LiteralNumber& number, DType dtype, Span span) {
  if (const bool* flag = std::get_if<bool>(&number)) {
    if (is_bool(dtype)) return Tensor::scalar_int(dtype, *flag ? 1 : 0);
    refuse(span, fmt::format("found {} beside a tensor of {}; expected a number", *flag ? "True" : "False",
                             name_of(dtype)));
  }
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&number)) {
    if (!holds_integer(dtype, *integer)) no_such_value(fmt::format("{}", *integer), dtype, span);
    return is_float(dtype) ? Tensor::scalar(dtype, static_cast<double>(*integer))
                           : Tensor::scalar_int(dtype, *integer);
  }
  const double real = std::get<double>(number);
  if (!is_float(dtype)) {
    refuse(span,
           fmt::format(
               "found the number {} beside a tensor of {}; expected an integer, or the tensor cast by astype",
               format_double(real), name_of(dtype)));
  }
  Tensor result = Tensor::scalar(dtype, real);
  if (std::isfinite(real) && !std::isfinite(result.get_double(0)))
    no_such_value(format_double(real), dtype, span);
  return result;
}

}  // namespace relish
