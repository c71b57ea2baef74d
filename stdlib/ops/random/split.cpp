// Several keys from one.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_split {
namespace {

constexpr Param params[] = {key_param, {"n", ParamKind::Attribute, "int", "2", "number of keys"}};

Type infer(const CallView& call) {
  require_key(call, 0);
  const std::int64_t count = call.int_attribute("n");
  if (count < 0) call.reject("n", call.span, fmt::format("n is {}, expected a number of keys", count));
  return tensor_type({Scalar(count), Scalar(2)}, DType::UInt32);
}

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(DType::UInt32, result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace())
    result.set_int(i, split_key(key, static_cast<std::uint64_t>(i / 2)).words[i % 2]);
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(c, "split", [](const Draw& draw) {
    const PhiloxWords words = philox_words(draw.locals, draw.key, draw.index[0], philox_layout::split_stream);
    return select(equal(draw.index[1], 0), words[0], words[1]);
  });
}

constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), n=3",
     "[[779593641, 572944554], [107503224, 1973004098], [3196728091, 3310205610]]"},
    {"tensor([1, 2], \"uint32\")", "[[779593641, 572944554], [107503224, 1973004098]]"},
    {"tensor([0, 0], \"uint32\"), 3",
     "[[3161126858, 3028309569], [969064242, 1428334946], [1342718030, 3764846548]]"},
    {"tensor([4294967295, 4294967295], \"uint32\"), 2",
     "[[1278629923, 105742224], [1358016372, 3873096959]]"},
    {"tensor([7, 9], \"uint32\"), 1", "[[3081497601, 330991211]]"},
    {"tensor([1, 2], \"uint32\"), 0"},
};
constexpr Reject rejects[] = {
    {"split.key", "tensor([0, 0]), 2", "expected a key"},
    {"split.n", "tensor([0, 0], \"uint32\"), -1", "n is -1"},
};

}  // namespace

extern const Op op_random_split =
    random_op({.name = "random.split",
               .summary = "Several keys from one: a tensor of shape (n, 2).",
               .params = params,
               .infer = infer,
               .eval = evaluate,
               .lower = lower,
               .samples = samples,
               .rejects = rejects,
               .doc = "Row i is the first two words of Philox4x32-10 for the counter (i, "
                      "stream \"spli\"); it does not depend "
                      "on n. A key that has been split should not be used again."});

}  // namespace relish::ops_random_split
