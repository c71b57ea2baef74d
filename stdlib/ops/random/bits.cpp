// Random bits.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_bits {
namespace {

constexpr Param params[] = {
    key_param,
    {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
    {"dtype", ParamKind::Attribute, "dtype", "\"uint32\"", "uint8, uint16, uint32 or uint64"}};

Type infer(const CallView& call) {
  require_key(call, 0);
  const DType dtype = *dtype_attribute(call, "dtype");
  if (!is_unsigned_int(dtype)) {
    call.reject("dtype", call.span,
                fmt::format("dtype is {}, expected uint8, uint16, uint32 or uint64", name_of(dtype)));
  }
  return drawn_type(call, 1, dtype);
}

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace()) {
    const auto index = static_cast<std::uint64_t>(i);
    if (result.dtype() == DType::UInt64)
      result.set_int(i, static_cast<std::int64_t>(random_double_word(key, index)));
    else
      result.set_int(i, random_word(key, index) >> (32 - 8 * size_of(result.dtype())));
  }
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(c, "bits", [](const Draw& draw) -> Scalar {
    const DType dtype = draw.lowering.result_dtype();
    if (dtype == DType::UInt64) return double_word_at(draw.locals, draw.key, draw.position());
    const Scalar word = word_at(draw.locals, draw.key, draw.position());
    const std::int64_t surplus = 32 - 8 * size_of(dtype);
    return surplus == 0
               ? word
               : binary(BinaryOp::ShiftRight, word, uint32_literal(static_cast<std::uint32_t>(surplus)));
  });
}

constexpr Sample samples[] = {
    // The published answer for counter and key 0.
    {"tensor([0, 0], \"uint32\"), R.shape([4])", "[1713891541, 3781805453, 3159862348, 2600524760]"},
    {"tensor([1, 2], \"uint32\"), R.shape([2, 3])",
     "[[93904442, 2563932206, 655331230], [3937864147, 1593998110, 2992053196]]"},
    {"tensor([1, 2], \"uint32\"), R.shape([5]), dtype=\"uint8\"", "[5, 152, 39, 234, 95]"},
    {"tensor([1, 2], \"uint32\"), R.shape([5]), dtype=\"uint16\"", "[1432, 39122, 9999, 60087, 24322]"},
    {"tensor([1, 2], \"uint32\"), R.shape([3]), dtype=\"uint64\"",
     "[403316509903061038, 2814626204835318227, 6846169755327863756]"},
    {"tensor([1, 2], \"uint32\"), R.shape([])", "93904442"},
    {"tensor([1, 2], \"uint32\"), R.shape([0, 3])"},
    {"tensor([7, 9], \"uint32\"), R.shape([3, 5, 7])"},
};
constexpr Reject rejects[] = {
    {"bits.key", "tensor([0, 0]), R.shape([2])", "expected a key"},
    {"bits.key", "tensor([0, 0, 0], \"uint32\"), R.shape([2])", "expected a key"},
    {"bits.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), dtype=\"int32\"", "dtype is int32"},
    {"bits.shape", "tensor([0, 0], \"uint32\"), R.shape([-2])", "is negative"},
};

}  // namespace

extern const Op op_random_bits =
    random_op({.name = "random.bits",
               .summary = "Random bits.",
               .params = params,
               .infer = infer,
               .eval = evaluate,
               .lower = lower,
               .samples = samples,
               .rejects = rejects,
               .doc = "Element i in row-major order is word i of the key: Philox4x32-10 of the "
                      "counter (i / 4, stream 0), word i mod 4. Narrower dtypes take its "
                      "highest bits; uint64 takes word 2 i as its high half and word 2 i + 1 as "
                      "its low half. The value depends on the key and the index alone."});

}  // namespace relish::ops_random_bits
