// Random tensors.
#include "shell/script/random_fill.h"

#include "support/failure.h"

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
  draw_elements(result, key, distribution, span);
  return result;
}

}  // namespace relish
