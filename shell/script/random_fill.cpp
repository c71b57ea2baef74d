// Random tensors.
#include "shell/script/random_fill.h"

#include "runtime/philox.h"
#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {

namespace {

// Keeps the keys of draws apart from those of epochs, steps and parameters: "draw".
constexpr std::uint64_t draw_domain = 0x64726177;

}  // namespace

RandomKey key_of_draw(std::uint64_t seed, std::uint64_t count) {
  return fold_in(fold_in(key_from_seed(seed), draw_domain), count);
}

Tensor random_tensor(DType dtype, Shape shape, RandomKey key, Distribution distribution, Span span,
                     std::string_view what) {
  if (!is_float(dtype)) {
    fail(
        ErrorClass::Type, span, "rand.dtype",
        fmt::format("{} makes floating tensors, found {}; give values, zeros or ones", what, name_of(dtype)));
  }
  Tensor result = Tensor::empty(dtype, std::move(shape));
  std::array<std::uint32_t, 4> words{};
  auto word = [&](std::uint64_t index) {
    if (index % 4 == 0) words = philox(key, index / 4);
    return words[index % 4];
  };
  for (std::int64_t i = 0; i < result.size(); ++i) {
    poll_interrupt(span);
    auto index = static_cast<std::uint64_t>(i);
    if (distribution == Distribution::Normal) {
      const std::uint32_t high = word(2 * index);
      result.set_double(i, standard_normal(high, word(2 * index + 1)));
    } else if (dtype == DType::Float64) {
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
