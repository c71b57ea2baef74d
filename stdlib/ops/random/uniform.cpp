// Uniform random numbers.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_uniform {
namespace {

// Bits of a word that make a number of [0, 1): as many as the type holds below 1, so that no result rounds
// up to 1.
constexpr int bits_of(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 11;
    case DType::BFloat16:
      return 8;
    default:
      return 24;
  }
}

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, result_shape(c));
  const int bits = bits_of(result.dtype());
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace()) {
    const auto index = static_cast<std::uint64_t>(i);
    if (result.dtype() == DType::Float64)
      result.set_double(i, uniform_double(random_double_word(key, index)));
    else
      result.set_double(i, std::ldexp(static_cast<double>(random_word(key, index) >> (32 - bits)), -bits));
  }
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(c, "uniform", [](const Draw& draw) -> Scalar {
    const DType dtype = draw.lowering.result_dtype();
    if (dtype == DType::Float64) {
      const Scalar word = double_word_at(draw.locals, draw.key, draw.position());
      const Scalar high = binary(BinaryOp::ShiftRight, word, int_literal(DType::UInt64, 11));
      return cast(DType::Float64, high) * float_literal(DType::Float64, 0x1p-53);
    }
    const int bits = bits_of(dtype);
    const Scalar word = word_at(draw.locals, draw.key, draw.position());
    const Scalar high =
        binary(BinaryOp::ShiftRight, word, uint32_literal(static_cast<std::uint32_t>(32 - bits)));
    return cast(DType::Float32, high) * float_literal(DType::Float32, std::ldexp(1.0, -bits));
  });
}

constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([2, 3])",
     "[[0.021863818168640137, 0.5969619750976562, 0.15258115530014038], "
     "[0.9168553948402405, 0.3711315989494324, 0.6966416239738464]]"},
    {"tensor([1, 2], \"uint32\"), R.shape([4]), dtype=\"float64\"",
     "[0.02186383181180851, 0.1525811923008541, 0.37113160609655116, 0.15749651069781534]"},
    {"tensor([1, 2], \"uint32\"), R.shape([4]), dtype=\"float16\"",
     "[0.021484375, 0.5966796875, 0.15234375, 0.91650390625]"},
    {"tensor([1, 2], \"uint32\"), R.shape([4]), dtype=\"bfloat16\"",
     "[0.01953125, 0.59375, 0.15234375, 0.9140625]"},
    {"tensor([1, 2], \"uint32\"), R.shape([])", "0.021863818168640137"},
    {"tensor([1, 2], \"uint32\"), R.shape([2, 0])"},
    {"tensor([3, 4], \"uint32\"), R.shape([5, 7, 11])"},
};
constexpr Reject rejects[] = {
    {"uniform.key", "tensor([[0, 0]], \"uint32\"), R.shape([2])", "expected a key"},
    {"uniform.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), dtype=\"int32\"",
     "expected a floating dtype"},
};

}  // namespace

extern const Op op_random_uniform = random_op(
    {.name = "random.uniform",
     .summary = "Random numbers of the uniform distribution on [0, 1).",
     .params = distribution_params,
     .infer = distribution_type,
     .eval = evaluate,
     .lower = lower,
     .samples = samples,
     .rejects = rejects,
     .doc = "Element i is the highest 24 bits of word i of the key, times 2^-24; 11 bits for float16, 8 for "
            "bfloat16, and 53 bits of the words 2 i and 2 i + 1 for float64. 0 occurs, 1 does not."});

}  // namespace relish::ops_random_uniform
