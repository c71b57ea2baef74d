// Every element that is drawn against the words of the key's stream that it is made of.
#include "runtime/random_elements.h"

#include <catch2/catch.hpp>

namespace relish {
namespace {

// More than is filled between two polls.
constexpr std::int64_t many = (std::int64_t{1} << 16) + 7;

Tensor elements_of(DType dtype, Distribution distribution) {
  Tensor tensor = Tensor::empty(dtype, {many});
  draw_elements(tensor, key_from_seed(11), distribution, {});
  return tensor;
}

Tensor each(DType dtype, double (*element)(std::uint64_t)) {
  Tensor tensor = Tensor::empty(dtype, {many});
  for (std::int64_t i = 0; i < many; ++i) tensor.set_double(i, element(static_cast<std::uint64_t>(i)));
  return tensor;
}

TEST_CASE("a uniform element is one word of the stream, of float64 two") {
  const auto one_word = [](std::uint64_t i) {
    return static_cast<double>(uniform_float(random_word(key_from_seed(11), i)));
  };
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32})
    CHECK(identical(elements_of(dtype, Distribution::Uniform), each(dtype, one_word)));
  CHECK(
      identical(elements_of(DType::Float64, Distribution::Uniform), each(DType::Float64, [](std::uint64_t i) {
                  return uniform_double(random_double_word(key_from_seed(11), i));
                })));
}

TEST_CASE("a normal element is two words of the stream in every dtype") {
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64})
    CHECK(identical(elements_of(dtype, Distribution::Normal), each(dtype, [](std::uint64_t i) {
                      return standard_normal(random_double_word(key_from_seed(11), i));
                    })));
}

}  // namespace
}  // namespace relish
