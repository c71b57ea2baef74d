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

Scalar unsigned_literal(std::uint64_t value) {
  return int_literal(DType::UInt64, static_cast<std::int64_t>(value));
}

// permuted_index of the runtime.
Scalar permuted(const Draw& draw) {
  using namespace philox_layout;
  LocalStatements& locals = draw.locals;
  const Dims& shape = draw.lowering.result_dims();
  const Dims leading(draw.index.begin(), draw.index.end() - 1);
  const Scalar row = locals.let("row", cast(DType::UInt32, flat_index(shape, leading)));
  const auto word = [&](LocalStatements& into, const Scalar& right, const Scalar& stream) {
    return philox_words(
        into, draw.key,
        {cast(DType::UInt32, right),
         cast(DType::UInt32, binary(BinaryOp::ShiftRight, right, unsigned_literal(32))), stream, row})[0];
  };

  const Scalar n = locals.let("n", cast(DType::UInt64, shape.back()));
  const Scalar last = locals.let("last", max(n - unsigned_literal(1), unsigned_literal(1)));
  const Scalar width = Scalar(64) - cast(DType::Int64, intrinsic(Intrinsic::Clz, {last}));
  const Scalar half = locals.let(
      "half", cast(DType::UInt64,
                   max(binary(BinaryOp::ShiftRight, width + Scalar(1), Scalar(1)), Scalar(least_half_bits))));
  const Scalar mask =
      locals.let("mask", binary(BinaryOp::ShiftLeft, unsigned_literal(1), half) - unsigned_literal(1));
  const Scalar start = locals.let("start", cast(DType::UInt64, draw.index.back()));
  const Scalar parity = locals.let(
      "parity", binary(BinaryOp::BitAnd,
                       cast(DType::UInt64, word(locals, unsigned_literal(0),
                                                uint32_literal(permutation_stream + feistel_rounds))),
                       unsigned_literal(1)));
  const Scalar exchanged = logical(LogicalOp::And, start <= unsigned_literal(1), n > unsigned_literal(1));
  const ScalarVar at =
      locals.variable("at", binary(BinaryOp::BitXor, start, select(exchanged, parity, unsigned_literal(0))));
  locals.repeat_while("outside", [&](LocalStatements& walk) {
    const ScalarVar left = walk.variable("left", binary(BinaryOp::ShiftRight, use(at), half));
    const ScalarVar right = walk.variable("right", binary(BinaryOp::BitAnd, use(at), mask));
    walk.repeat("turn", feistel_rounds, [&](LocalStatements& round, const Scalar& turn) {
      const Scalar stream = uint32_literal(permutation_stream) + cast(DType::UInt32, turn);
      const Scalar mixed =
          binary(BinaryOp::BitAnd, cast(DType::UInt64, word(round, use(right), stream)), mask);
      const Scalar next = round.let("next", binary(BinaryOp::BitXor, use(left), mixed));
      round.assign(left, use(right));
      round.assign(right, next);
    });
    walk.assign(at, binary(BinaryOp::BitOr, binary(BinaryOp::ShiftLeft, use(left), half), use(right)));
    return use(at) >= n;
  });
  return use(at);
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
