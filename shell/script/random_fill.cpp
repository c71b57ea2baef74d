// Uniform random tensors.
#include "shell/script/random_fill.h"

#include "runtime/philox.h"
#include "support/failure.h"

namespace relish {

Tensor random_tensor(DType dtype, Shape shape, std::uint64_t seed, Span span) {
  if (!is_float(dtype)) {
    fail(ErrorClass::Type, span, "rand.dtype",
         fmt::format("rand makes floating tensors, found {}; give values, zeros or ones", name_of(dtype)));
  }
  Tensor result = Tensor::empty(dtype, std::move(shape));
  RandomKey key = key_from_seed(seed);
  std::array<std::uint32_t, 4> words{};
  auto word = [&](std::uint64_t index) {
    if (index % 4 == 0) words = philox(key, index / 4);
    return words[index % 4];
  };
  for (std::int64_t i = 0; i < result.size(); ++i) {
    auto index = static_cast<std::uint64_t>(i);
    if (dtype == DType::Float64) {
      std::uint64_t high = word(2 * index);
      std::uint64_t bits = (high << 32 | word(2 * index + 1)) >> 11;
      result.set_double(i, static_cast<double>(bits) * 0x1p-53);
    } else {
      result.set_double(i, uniform_float(word(index)));
    }
  }
  return result;
}

}  // namespace relish
