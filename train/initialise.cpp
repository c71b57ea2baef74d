// Glorot uniform from counter-based random words.
#include "train/initialise.h"

#include <cmath>

namespace relish {
namespace {

// Keeps the keys of parameters apart from those of epochs and steps, which are folded from the seed itself:
// "param".
constexpr std::uint64_t parameter_domain = 0x706172616D;

// [0, 1) with as many bits as the type resolves: 24, or 53 for float64 from two words.
double uniform(RandomKey key, DType dtype, std::uint64_t index) {
  if (dtype != DType::Float64) return uniform_float(random_word(key, index));
  return uniform_double(random_double_word(key, index));
}

}  // namespace

RandomKey parameters_key(std::uint64_t seed) { return fold_in(key_from_seed(seed), parameter_domain); }

Tensor initial_parameter(DType dtype, const Shape& shape, std::uint64_t seed, std::uint64_t position) {
  RELISH_CHECK(is_float(dtype));
  Tensor result = Tensor::zeros(dtype, shape);
  if (shape.size() < 2 || result.size() == 0) return result;
  Fans fans = fans_of(shape);
  double bound = std::sqrt(6.0 / static_cast<double>(fans.in + fans.out));
  RandomKey key = fold_in(parameters_key(seed), position);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    result.set_double(i, (2 * uniform(key, dtype, static_cast<std::uint64_t>(i)) - 1) * bound);
  }
  return result;
}

}  // namespace relish
