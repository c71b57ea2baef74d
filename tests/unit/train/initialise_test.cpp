// Initial parameters: range, spread, and the same bytes each time.
#include "train/initialise.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "train/finite.h"

namespace relish {
namespace {

TEST_CASE("fans of weights") {
  CHECK(fans_of(Shape{784, 128}).in == 784);
  CHECK(fans_of(Shape{784, 128}).out == 128);
  CHECK(fans_of(Shape{16, 3, 5, 5}).in == 75);
  CHECK(fans_of(Shape{16, 3, 5, 5}).out == 400);
}

TEST_CASE("weights are uniform within the bound, biases are zero") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    Tensor weight = initial_parameter(dtype, {200, 100}, 0, 0);
    const double bound = std::sqrt(6.0 / 300);
    double least = 0, greatest = 0, sum = 0, squares = 0;
    for (std::int64_t i = 0; i < weight.size(); ++i) {
      double value = weight.get_double(i);
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      sum += value;
      squares += value * value;
    }
    const auto count = static_cast<double>(weight.size());
    CHECK(least >= -bound);
    CHECK(least < -0.999 * bound);
    CHECK(greatest <= bound);
    CHECK(greatest > 0.999 * bound);
    CHECK(std::fabs(sum / count) < 0.02 * bound);
    CHECK(squares / count == Approx(bound * bound / 3).epsilon(0.02));
  }
  Tensor bias = initial_parameter(DType::Float32, {128}, 0, 1);
  CHECK(identical(bias, Tensor::zeros(DType::Float32, {128})));
  CHECK(initial_parameter(DType::Float32, {}, 0, 1).get_double(0) == 0);
  CHECK(initial_parameter(DType::Float32, {0, 0}, 0, 1).size() == 0);
}

TEST_CASE("weights depend on seed and position only") {
  Tensor weight = initial_parameter(DType::Float32, {8, 8}, 3, 2);
  CHECK(identical(weight, initial_parameter(DType::Float32, {8, 8}, 3, 2)));
  CHECK_FALSE(identical(weight, initial_parameter(DType::Float32, {8, 8}, 3, 1)));
  CHECK_FALSE(identical(weight, initial_parameter(DType::Float32, {8, 8}, 4, 2)));
}

TEST_CASE("NaN and infinity are found wherever they stand") {
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    for (std::int64_t place : {0, 63, 64, 129}) {
      Tensor values = Tensor::zeros(dtype, {130});
      CHECK_FALSE(first_not_finite(values));
      values.set_double(129, -INFINITY);
      values.set_double(place, place % 2 == 0 ? NAN : INFINITY);
      CHECK(first_not_finite(values) == place);
    }
  }
  CHECK_FALSE(first_not_finite(Tensor::from<float>({2}, std::vector<float>{3e38f, -1e-45f})));
  CHECK_FALSE(first_not_finite(Tensor::scalar_int(DType::Int64, -1)));
  Tensor bad = Tensor::scalar(DType::Float32, NAN);
  Tensor good = Tensor::scalar(DType::Float32, 1);
  CHECK(path_of_not_finite(Value::tuple({good, Value::tuple({good, bad})})) == "1.1");
  CHECK(path_of_not_finite(Value(bad)) == "");
  CHECK_FALSE(path_of_not_finite(Value::tuple({good})));
}

}  // namespace
}  // namespace relish
