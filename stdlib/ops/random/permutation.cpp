// Random permutations.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_permutation {
namespace {

constexpr Param params[] = {key_param,
                            {"shape", ParamKind::Shape, "shape", "",
                             "shape of the result; each row along its last dimension is permuted"}};

Type infer(const CallView& call) {
  require_key(call, 0);
  const Type type = drawn_type(call, 1, DType::Int64);
  if (type.tensor()->rank == 0) call.reject("rank", call.span_of(1), "the shape has no dimension to permute");
  return type;
}

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(DType::Int64, result_shape(c));
  const std::int64_t length = result.shape().back();
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace()) {
    const std::uint64_t image =
        permuted_index(key, static_cast<std::uint64_t>(length), static_cast<std::uint64_t>(i % length),
                       static_cast<std::uint32_t>(i / length));
    result.set_int(i, static_cast<std::int64_t>(image));
  }
  return result;
}

Scalar permuted(const Draw& draw) {
  const Dims& shape = draw.lowering.result_dims();
  const Dims leading(draw.index.begin(), draw.index.end() - 1);
  return permuted_at(draw.locals, draw.key, cast(DType::UInt64, shape.back()),
                     cast(DType::UInt64, draw.index.back()), cast(DType::UInt32, flat_index(shape, leading)));
}

PrimFunc lower(const LowerCall& c) { return lower_draw(c, "permutation", permuted); }

constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([7])", "[6, 3, 1, 2, 5, 0, 4]"},
    {"tensor([1, 2], \"uint32\"), R.shape([3, 5])", "[[4, 3, 1, 2, 0], [2, 1, 0, 4, 3], [0, 2, 1, 3, 4]]"},
    {"tensor([0, 0], \"uint32\"), R.shape([10])", "[9, 3, 6, 8, 2, 5, 0, 1, 4, 7]"},
    {"tensor([1, 2], \"uint32\"), R.shape([1])", "[0]"},
    {"tensor([1, 2], \"uint32\"), R.shape([2, 3, 1])", "[[[0], [0], [0]], [[0], [0], [0]]]"},
    {"tensor([1, 2], \"uint32\"), R.shape([300])"},
    {"tensor([1, 2], \"uint32\"), R.shape([0])"},
    {"tensor([1, 2], \"uint32\"), R.shape([3, 0])"},
};
constexpr Reject rejects[] = {
    {"permutation.key", "tensor([0, 0]), R.shape([2])", "expected a key"},
    {"permutation.rank", "tensor([0, 0], \"uint32\"), R.shape([])", "no dimension to permute"},
};

}  // namespace

extern const Op op_random_permutation = random_op(
    {.name = "random.permutation",
     .summary = "Random orders of 0, 1, ..., n - 1.",
     .params = params,
     .infer = infer,
     .eval = evaluate,
     .lower = lower,
     .samples = samples,
     .rejects = rejects,
     .doc =
         "n is the last dimension; each row is an order of its own. An element is found from the key, its "
         "row, "
         "n and its index alone, by a Feistel network over Philox4x32-10 (the manual of the language has it "
         "in "
         "full); training draws its batches in the order that this gives for the key of the epoch."});

}  // namespace relish::ops_random_permutation
