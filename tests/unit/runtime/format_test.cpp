// Text of numbers, tensors and values.
#include "runtime/format.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

namespace relish {
namespace {

Tensor counted(DType dtype, Shape shape) {
  Tensor t = Tensor::empty(dtype, std::move(shape));
  for (std::int64_t i = 0; i < t.size(); ++i) t.set_int(i, i + 1);
  return t;
}

TEST_CASE("numbers as Python writes them") {
  CHECK(format_double(1) == "1.0");
  CHECK(format_double(-0.0) == "-0.0");
  CHECK(format_double(0.1) == "0.1");
  CHECK(format_double(1e-5) == "1e-05");
  CHECK(format_double(0.0001) == "0.0001");
  CHECK(format_double(-0.00012345) == "-0.00012345");
  CHECK(format_double(1e15) == "1000000000000000.0");
  CHECK(format_double(1e16) == "1e+16");
  CHECK(format_double(123456.789) == "123456.789");
  CHECK(format_double(1.5e300) == "1.5e+300");
  CHECK(format_double(5e-324) == "5e-324");
  CHECK(format_double(INFINITY) == "inf");
  CHECK(format_double(-INFINITY) == "-inf");
  CHECK(format_double(-NAN) == "nan");
  CHECK(format_float(0.1f) == "0.1");
  CHECK(format_float(16777216.0f) == "16777216.0");
  CHECK(format_float(1e-5f) == "1e-05");
}

TEST_CASE("shapes") {
  CHECK(format_shape({}) == "()");
  CHECK(format_shape({2}) == "(2,)");
  CHECK(format_shape({2, 3}) == "(2, 3)");
}

TEST_CASE("tensors print as nested lists under their type") {
  CHECK(format_tensor(counted(DType::Float32, {2, 3})) == "float32 (2, 3)\n[[1, 2, 3],\n [4, 5, 6]]");
  CHECK(format_tensor(Tensor::scalar(DType::Float32, 2.5)) == "float32 () 2.5");
  CHECK(format_tensor(Tensor::zeros(DType::Bool, {2})) == "bool (2,)\n[False, False]");
  CHECK(format_tensor(Tensor::zeros(DType::Int8, {0, 3})) == "int8 (0, 3)\n[]");
  CHECK(format_tensor(counted(DType::Int64, {2, 1, 2})) == "int64 (2, 1, 2)\n[[[1, 2]],\n [[3, 4]]]");
  CHECK(format_tensor(Tensor::scalar_int(DType::UInt64, -1)) == "uint64 () 18446744073709551615");
}

TEST_CASE("elements are aligned, short by default and exact in full") {
  Tensor t = Tensor::empty(DType::Float64, {2});
  t.set_double(0, 1.0 / 3);
  t.set_double(1, -100);
  CHECK(format_tensor(t) == "float64 (2,)\n[0.333333,     -100]");
  CHECK(format_tensor(t, {.full = true}) == "float64 (2,)\n[0.3333333333333333,               -100]");
}

TEST_CASE("large tensors are elided in the middle, unless in full") {
  CHECK(format_tensor(counted(DType::Int32, {2000})) ==
        "int32 (2000,)\n[   1,    2,    3, ..., 1998, 1999, 2000]");
  std::string rows = format_tensor(counted(DType::Int32, {1000, 2}));
  CHECK(rows ==
        "int32 (1000, 2)\n[[   1,    2],\n [   3,    4],\n [   5,    6],\n ...,\n [1995, 1996],\n [1997, "
        "1998],\n "
        "[1999, 2000]]");
  CHECK(format_tensor(counted(DType::Int32, {2000}), {.full = true}).find("...") == std::string::npos);
}

TEST_CASE("long rows are broken") {
  CHECK(format_tensor(counted(DType::Int32, {6}), {.width = 10}) == "int32 (6,)\n[1, 2, 3,\n 4, 5, 6]");
}

TEST_CASE("values") {
  CHECK(format_value(Value()) == "None");
  CHECK(format_value(Value(ScalarValue::of_bool(true))) == "True");
  CHECK(format_value(Value(ScalarValue::of_real(2))) == "2.0");
  CHECK(format_value(Value(ScalarValue::of_real(0.1f, DType::Float32))) == "0.1");
  CHECK(format_value(Value(std::string("a\nb"))) == "a\nb");
  CHECK(format_value(Value(ShapeValue{{4}})) == "(4,)");
  Value tuple = Value::tuple({Value(counted(DType::Int8, {2, 1})), Value(std::string("a\nb"))});
  CHECK(format_value(tuple) == "(int8 (2, 1)\n [[1],\n  [2]],\n \"a\\nb\")");
  CHECK(format_value(Value::tuple({Value()})) == "(None,)");
  CHECK(format_value(Value::tuple({})) == "()");
}

}  // namespace
}  // namespace relish
