// Keys from a key and a number.
#include "stdlib/families/language/random.h"

namespace relish::ops_random_fold_in {
namespace {

constexpr Param params[] = {
    key_param,
    {"data", ParamKind::Any, "tensor or scalar", "", "an integer: a scalar, or a tensor without dimensions"}};

Type infer(const CallView& call) {
  require_key(call, 0);
  const std::optional<DType> dtype = dtype_of_argument(call, 1);
  if (dtype && (is_float(*dtype) || is_bool(*dtype)))
    call.reject("dtype", call.span_of(1),
                fmt::format("data has dtype {}, expected an integer", name_of(*dtype)));
  const TensorType* tensor = call.args[1].type().tensor();
  if (tensor && tensor->rank > 0)
    call.reject("rank", call.span_of(1), fmt::format("data has rank {}, expected one integer", tensor->rank));
  return tensor_type({Scalar(2)}, DType::UInt32);
}

Value evaluate(const EvalCall& c) {
  const Value& data = c.args[1];
  const std::int64_t number = data.is_tensor() ? data.tensor().get_int(0) : data.scalar().integer;
  const RandomKey key = fold_in(key_value(c, 0), static_cast<std::uint64_t>(number));
  Tensor result = Tensor::empty(DType::UInt32, {2});
  for (std::int64_t i = 0; i < 2; ++i) result.set_int(i, key.words[i]);
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(
      c, "fold_in",
      [](const Draw& draw) {
        const PhiloxWords words = philox_words(draw.locals, draw.key, draw.operand->element(DType::Int64, {}),
                                               philox_layout::fold_stream);
        return select(equal(draw.index[0], 0), words[0], words[1]);
      },
      1);
}

constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), 3", "[489356442, 3655615305]"},
    {"tensor([1, 2], \"uint32\"), tensor(-1)", "[652836420, 2582431967]"},
    {"tensor([1, 2], \"uint32\"), tensor(-1, \"int8\")", "[652836420, 2582431967]"},
    {"tensor([1, 2], \"uint32\"), tensor(8589934597)", "[191440715, 1142542360]"},
    {"tensor([1, 2], \"uint32\"), tensor(3, \"uint8\")", "[489356442, 3655615305]"},
};
constexpr Reject rejects[] = {
    {"fold_in.key", "tensor([0, 0]), 1", "expected a key"},
    {"fold_in.dtype", "tensor([0, 0], \"uint32\"), 1.5", "data has dtype float64, expected an integer"},
    {"fold_in.rank", "tensor([0, 0], \"uint32\"), tensor([1])", "data has rank 1"},
};

}  // namespace

extern const Op op_random_fold_in = random_op(
    {.name = "random.fold_in",
     .summary = "A new key that depends on a key and an integer.",
     .params = params,
     .infer = infer,
     .eval = evaluate,
     .lower = lower,
     .samples = samples,
     .rejects = rejects,
     .doc =
         "The first two words of Philox4x32-10 for the counter (data, stream \"fold\"). It gives each step, "
         "epoch, layer or row a key of its own: fold_in(key, step). Integers count by their value of 64 "
         "bits."});

}  // namespace relish::ops_random_fold_in
