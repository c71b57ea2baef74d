// Construction of scalars: conversions, refusals, IEEE minimum and maximum.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "ir/nodes/scalar.h"
#include "ir/printer/printer.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

using testing::failure_of;
using testing::rule_of;

Scalar var(const char* name, DType dtype) { return use(ScalarVar(name, dtype)); }

TEST_CASE("a literal adopts the dtype of the other operand") {
  const Scalar f16 = var("h", DType::Float16), i8 = var("b", DType::Int8);
  CHECK((f16 * 2).dtype() == DType::Float16);
  CHECK((Scalar(2) * f16).dtype() == DType::Float16);
  CHECK((f16 + float_literal(DType::Float32, 0.5)).dtype() == DType::Float16);
  CHECK((i8 + 1).dtype() == DType::Int8);
  // A value that the dtype cannot hold promotes, and so does a float beside an integer.
  CHECK((i8 + 1000).dtype() == DType::Int64);
  CHECK((i8 + float_literal(DType::Float32, 0.5)).dtype() == DType::Float32);
  CHECK((i8 > 0).dtype() == DType::Bool);
}

TEST_CASE("two expressions promote as TVM's operators do") {
  auto sum = [](DType a, DType b) { return (var("a", a) + var("b", b)).dtype(); };
  CHECK(sum(DType::Int32, DType::Int64) == DType::Int64);
  CHECK(sum(DType::Int32, DType::UInt32) == DType::UInt32);
  CHECK(sum(DType::UInt8, DType::Int32) == DType::Int32);
  CHECK(sum(DType::Float32, DType::Int64) == DType::Float32);
  CHECK(sum(DType::Float32, DType::Float64) == DType::Float64);
  CHECK(sum(DType::Bool, DType::Bool) == DType::Int32);
  CHECK(sum(DType::Bool, DType::Float32) == DType::Float32);
  CHECK(binary(BinaryOp::BitAnd, var("a", DType::Bool), var("b", DType::Bool)).dtype() == DType::Bool);
  CHECK(failure_of([&] { sum(DType::Float16, DType::BFloat16); }) ==
        "TypeError: float16 and bfloat16 have no common dtype; expected an explicit cast");
}

TEST_CASE("ill-typed operands are refused") {
  const Scalar i = var("i", DType::Int32), x = var("x", DType::Float32);
  CHECK(failure_of([&] { logical(LogicalOp::And, i, i > 0); }) ==
        "TypeError: operand of and has dtype int32; expected bool");
  CHECK(failure_of([&] { logical_not(i); }) == "TypeError: operand of not has dtype int32; expected bool");
  CHECK(failure_of([&] { select(i, x, x); }) == "TypeError: condition has dtype int32; expected bool");
  CHECK(failure_of([&] { binary(BinaryOp::ShiftLeft, x, i); }) ==
        "TypeError: << takes integers, found float32");
  CHECK(failure_of([&] { intrinsic(Intrinsic::Exp, {i}); }) == "TypeError: T.exp takes floats, found int32");
  CHECK(failure_of([&] { intrinsic(Intrinsic::Pow, {x}); }) ==
        "TypeError: T.pow is given 1 argument; it takes 2");
  const Buffer buffer("A", DType::Float32, {Scalar(4), Scalar(4)});
  CHECK(failure_of([&] { load(buffer, {i}); }) == "TypeError: A is indexed with 1 index; it has rank 2");
  CHECK(failure_of([&] { load(buffer, {i, x}); }) ==
        "TypeError: index of A has dtype float32; expected an integer");
  CHECK(rule_of([&] { load(buffer, {i, x}); }) == "TypeError: buffer.index");
  CHECK(rule_of([&] { intrinsic(Intrinsic::Pow, {x}); }) == "TypeError: intrinsic.arity");
}

TEST_CASE("intrinsics are found by name and alias") {
  CHECK(intrinsic_from_name("fabs") == Intrinsic::Abs);
  CHECK(intrinsic_from_name("nearbyint") == Intrinsic::Round);
  CHECK(!intrinsic_from_name("gamma"));
  CHECK(!intrinsic_from_name(""));
  for (const IntrinsicInfo& info : intrinsics()) CHECK(intrinsic_from_name(info.name) == info.which);
}

// Evaluates the float expressions that the IEEE helpers are made of.
double evaluate(const Scalar& s, double a, double b) {
  if (const auto* literal = s.as<FloatLiteral>()) return literal->value;
  if (auto used = s.as_var()) return used->name() == "a" ? a : b;
  if (const auto* chosen = s.as<Select>()) {
    const auto& c = *chosen->condition.as<Compare>();
    const double x = evaluate(c.a, a, b), y = evaluate(c.b, a, b);
    const bool holds = c.op == CompareOp::Lt ? x < y : c.op == CompareOp::Gt ? x > y : x == y;
    return evaluate(holds ? chosen->a : chosen->b, a, b);
  }
  const auto& n = *s.as<Binary>();
  const double x = evaluate(n.a, a, b), y = evaluate(n.b, a, b);
  return n.op == BinaryOp::Add ? x + y : n.op == BinaryOp::Sub ? x - y : x * y;
}

TEST_CASE("IEEE minimum and maximum order zeros and pass NaN on") {
  const Scalar a = var("a", DType::Float32), b = var("b", DType::Float32);
  const Scalar maximum = maximum_ieee(a, b), minimum = minimum_ieee(a, b);
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (double x : {0.0, -0.0}) {
    for (double y : {0.0, -0.0}) {
      CHECK(std::signbit(evaluate(maximum, x, y)) == (std::signbit(x) && std::signbit(y)));
      CHECK(std::signbit(evaluate(minimum, x, y)) == (std::signbit(x) || std::signbit(y)));
    }
  }
  for (double x : {-inf, -1.5, 0.0, 2.0, inf}) {
    for (double y : {-inf, -1.5, 1.0, 2.0, inf}) {
      CHECK(evaluate(maximum, x, y) == std::fmax(x, y));
      CHECK(evaluate(minimum, x, y) == std::fmin(x, y));
    }
    CHECK(std::isnan(evaluate(maximum, x, nan)));
    CHECK(std::isnan(evaluate(minimum, nan, x)));
  }
}

TEST_CASE("limits of dtypes") {
  CHECK(min_value(DType::Int8).as_int() == -128);
  CHECK(max_value(DType::UInt16).as_int() == 65535);
  CHECK(max_value(DType::UInt64).as_int() == -1);
  CHECK(std::isinf(max_value(DType::Float16).as<FloatLiteral>()->value));
}

}  // namespace
}  // namespace relish
