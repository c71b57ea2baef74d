// Storage, conversions and limits of tensors, and access to values.
#include "runtime/tensor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "runtime/value.h"
#include "support/limits.h"
#include "support/memory.h"
#include "tests/unit/catch_failure.h"

namespace relish {
namespace {

using testing::failure_of;

TEST_CASE("storage is aligned, counted and given back") {
  std::uint64_t before = memory_held();
  {
    Tensor t = Tensor::zeros(DType::Float32, {3, 5});
    CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % 64 == 0);
    CHECK(t.size() == 15);
    CHECK(t.byte_size() == 60);
    CHECK(memory_held() == before + 64);
    CHECK(t.unique());
    Tensor shared = t.reshaped({15});
    CHECK_FALSE(t.unique());
    CHECK(shared.same_storage(t));
    CHECK_FALSE(t.copy().same_storage(t));
    CHECK(identical(t.copy(), t));
    CHECK_FALSE(identical(shared, t));
  }
  CHECK(memory_held() == before);
  CHECK(Tensor::empty(DType::Int8, {0, 3}).data() != nullptr);
}

TEST_CASE("shapes are checked") {
  CHECK(element_count(Shape{}) == 1);
  CHECK(element_count(Shape{2, 0, 3}) == 0);
  CHECK(element_count(Shape{INT64_MAX, 0, INT64_MAX}) == 0);
  CHECK(row_major_strides(Shape{2, 3, 4}) == Shape{12, 4, 1});
  CHECK(failure_of([] { element_count(Shape{1LL << 32, 1LL << 32}); }) ==
        "ResourceLimit: the shape (4294967296, 4294967296) has more elements than 64 bits can address");
  CHECK(failure_of([] { element_count(Shape{INT64_MAX / 2}); }).starts_with("ResourceLimit"));
  CHECK(failure_of([] { element_count(Shape{-1}); }) ==
        "RuntimeError: the shape (-1,) has a negative dimension");
}

TEST_CASE("an allocation beyond the limit names wanted, allowed and the flag") {
  std::uint64_t old_limit = limits().memory_bytes;
  limits().memory_bytes = memory_held() + 1000;
  std::uint64_t before = memory_held();
  std::string text = failure_of([] { Tensor::empty(DType::Float32, {1000}); });
  limits().memory_bytes = old_limit;
  CHECK(text.starts_with("ResourceLimit: a tensor of 4000 bytes does not fit; "));
  CHECK(text.find("--memory-limit") != std::string::npos);
  CHECK(memory_held() == before);
}

TEST_CASE("numbers are converted by the rules of the language") {
  CHECK(Tensor::scalar(DType::Int8, 1e9).get_int(0) == 127);
  CHECK(Tensor::scalar(DType::Int8, -1e9).get_int(0) == -128);
  CHECK(Tensor::scalar(DType::UInt8, -3.5).get_int(0) == 0);
  CHECK(Tensor::scalar(DType::Int32, NAN).get_int(0) == 0);
  CHECK(Tensor::scalar(DType::Int32, -2.9).get_int(0) == -2);
  CHECK(Tensor::scalar(DType::Int64, 1e300).get_int(0) == INT64_MAX);
  CHECK(Tensor::scalar(DType::UInt64, 1e300).get_int(0) == -1);
  CHECK(Tensor::scalar(DType::Bool, 0.5).get_int(0) == 1);
  CHECK(Tensor::scalar_int(DType::Int8, 300).get_int(0) == 44);
  CHECK(Tensor::scalar_int(DType::UInt64, -1).get_double(0) == 18446744073709551616.0);
  CHECK(Tensor::scalar(DType::Float32, INFINITY).get_int(0) == INT64_MAX);
  CHECK(Tensor::scalar(DType::Float16, 1e6).get_double(0) == INFINITY);
}

TEST_CASE("large integers reach bfloat16 in one rounding") {
  // Just above the middle of two bfloat16 values: the way through double would lose the last bit.
  std::int64_t tie_plus_one = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  CHECK(Tensor::scalar_int(DType::BFloat16, tie_plus_one).get_double(0) == 0x1p62 + 0x1p55);
  CHECK(Tensor::scalar_int(DType::BFloat16, -tie_plus_one).get_double(0) == -(0x1p62 + 0x1p55));
  CHECK(Tensor::scalar_int(DType::BFloat16, tie_plus_one - 1).get_double(0) == 0x1p62);
}

namespace {

// What the system says of the memory that an address lies in; empty when it does not say.
std::string flags_of_memory(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx", &begin, &end) == 2) inside = begin <= wanted && wanted < end;
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

}  // namespace

TEST_CASE("the system is asked for large pages where a tensor is large") {
  const Tensor large = Tensor::zeros(DType::Float32, {5 << 20});
  const std::string flags = flags_of_memory(static_cast<const char*>(large.data()) + large.byte_size() / 2);
  if (flags.empty()) return;  // a system that tells nothing
  INFO(flags);
  CHECK(flags.find(" hg ") != std::string::npos);
}

TEST_CASE("every dtype has a name, a size and its DLPack codes") {
  for (int i = 0; i < dtype_count; ++i) {
    auto dtype = static_cast<DType>(i);
    CHECK(dtype_from_name(name_of(dtype)) == dtype);
    CHECK(visit_dtype(dtype, [](auto type) { return static_cast<int>(sizeof type); }) == size_of(dtype));
    CHECK(visit_dtype(dtype, [](auto type) { return dtype_of<decltype(type)>(); }) == dtype);
    CHECK(dlpack_bits(dtype) == 8 * size_of(dtype));
  }
  CHECK(dtype_from_name("uint1") == DType::Bool);
  CHECK_FALSE(dtype_from_name("float8"));
  CHECK(dlpack_code(DType::BFloat16) == 4);
  CHECK(dlpack_code(DType::Bool) == 6);
}

TEST_CASE("values give what they hold and refuse the rest") {
  Value tuple = Value::tuple({Value(Tensor::zeros(DType::Float32, {2})), Value(ShapeValue{{2, 3}})});
  CHECK(tuple.fields().size() == 2);
  CHECK(describe(tuple) == "a tuple of 2");
  CHECK(describe(tuple.fields()[0]) == "a tensor float32 (2,)");
  CHECK(describe(tuple.fields()[1]) == "a shape (2, 3)");
  CHECK(describe(Value(ScalarValue::of_int(1))) == "a scalar int64");
  CHECK(describe(Value()) == "no value");
  CHECK(failure_of([&] { tuple.tensor(); }).ends_with("expected a tensor, got a tuple of 2"));
}

}  // namespace
}  // namespace relish
