// The comparisons that all tests of operators and golden files rest on: they must notice what is too far.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/golden/golden_file.h"
#include "tests/golden/tolerance.h"

namespace relish::testing {
namespace {

Tensor floats(std::vector<float> values) {
  return Tensor::from<float>({static_cast<std::int64_t>(values.size())}, std::span<const float>(values));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("distances in units in the last place", "[tolerance]") {
  CHECK(ulp_distance(1.0, std::nextafter(1.0f, 2.0f), DType::Float32) == 1);
  CHECK(ulp_distance(1.0, std::nextafter(1.0, 0.0), DType::Float64) == 1);
  CHECK(ulp_distance(0.0, -0.0, DType::Float32) == 0);
  CHECK(ulp_distance(std::nextafter(0.0f, 1.0f), std::nextafter(0.0f, -1.0f), DType::Float32) == 2);
  CHECK(ulp_distance(1.0, 1.0 + 1.0 / 1024, DType::Float16) == 1);
  CHECK(ulp_distance(1.0, 1.0 + 1.0 / 128, DType::BFloat16) == 1);
  CHECK(ulp_distance(std::nan(""), std::nan("1"), DType::Float64) == 0);
  CHECK(ulp_distance(1.0, infinity, DType::Float32) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("exact classes compare bits, and any NaN with any NaN", "[tolerance]") {
  for (int exact : {1, 2, 3, 7}) {
    CHECK(disagreement(floats({1, std::nanf("1"), infinity}), floats({1, std::nanf("2"), infinity}), exact) ==
          "");
    CHECK(disagreement(floats({0.0f}), floats({-0.0f}), exact) != "");
    CHECK(disagreement(floats({1.0f}), floats({std::nextafter(1.0f, 2.0f)}), exact) != "");
  }
}

TEST_CASE("elementary functions may differ by four units in float32", "[tolerance]") {
  float near = 1.0f, far = 1.0f;
  for (int i = 0; i < 4; ++i) near = std::nextafter(near, 2.0f);
  for (int i = 0; i < 5; ++i) far = std::nextafter(far, 2.0f);
  CHECK(disagreement(floats({near}), floats({1.0f}), 4) == "");
  CHECK(disagreement(floats({far}), floats({1.0f}), 4) != "");
  CHECK(disagreement(floats({infinity}), floats({1.0f}), 4) != "");
  CHECK(disagreement(floats({std::nanf("")}), floats({1.0f}), 4) != "");
}

TEST_CASE("sums may differ by their terms", "[tolerance]") {
  const Tensor magnitudes = floats({1000.0f});
  const double unit = rounding_unit(DType::Float32);
  const auto off = [&](double error) { return floats({static_cast<float>(1.0 + error)}); };
  CHECK(disagreement(off(9 * unit * 1000), floats({1.0f}), 5, {&magnitudes, 10}) == "");
  CHECK(disagreement(off(11 * unit * 1000), floats({1.0f}), 5, {&magnitudes, 10}) != "");
}

TEST_CASE("shapes and dtypes must be those expected", "[tolerance]") {
  CHECK(disagreement(floats({1, 2}), floats({1, 2}).reshaped({2, 1}), 6) != "");
  CHECK(disagreement(floats({1}), Tensor::zeros(DType::Float64, {1}), 6) != "");
}

TEST_CASE("texts agree up to their numbers", "[tolerance]") {
  CHECK(text_disagreement("loss 0.50001\n", "loss 0.50002\n", 8) == "");
  CHECK(text_disagreement("loss 0.5001\n", "loss 0.5002\n", 8) != "");
  CHECK(text_disagreement("step 4 0.5\n", "step 5 0.5\n", 8) != "");
  CHECK(text_disagreement("loss 0.5\n", "cost 0.5\n", 8) != "");
  CHECK(text_disagreement("float64 (1,)\n[0.500001]\n", "float64 (1,)\n[0.5]\n", 8) != "");
  CHECK(text_disagreement("float32 (2,)\n[ 1, 10.00001]\n", "float32 (2,)\n[  1, 10]\n", 8) == "");
  CHECK(text_disagreement("a\n", "a\nb\n", 8) != "");
}

TEST_CASE("command lines are cut at blanks outside quotes", "[tolerance]") {
  CHECK(split_words("run -e 'print(1 + 1)' --x=\"a b\"") ==
        std::vector<std::string>{"run", "-e", "print(1 + 1)", "--x=a b"});
  CHECK(split_words("  ''  ") == std::vector<std::string>{""});
}

}  // namespace relish::testing
