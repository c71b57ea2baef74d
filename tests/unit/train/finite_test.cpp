// Looking for what is not finite.
#include "train/finite.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace relish {
namespace {

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
