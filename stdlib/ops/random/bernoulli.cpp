// Random truth values.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_bernoulli {
namespace {

constexpr Param params[] = {key_param,
                            {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
                            {"p", ParamKind::Attribute, "float", "0.5", "probability of True, in [0, 1]"}};

// The number of words below which an element is True, as a real number.
double limit_of(const CallView& call) { return *call.attribute("p").as<double>() * 0x1p32; }

Type infer(const CallView& call) {
  require_key(call, 0);
  const double p = *call.attribute("p").as<double>();
  if (!(p >= 0 && p <= 1))
    call.reject("p", call.span, fmt::format("p is {}, expected a number between 0 and 1", p));
  return drawn_type(call, 1, DType::Bool);
}

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  const double limit = limit_of(c.call);
  Tensor result = Tensor::empty(DType::Bool, result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace())
    result.set_int(i, static_cast<double>(random_word(key, static_cast<std::uint64_t>(i))) < limit);
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(c, "bernoulli", [](const Draw& draw) {
    const Scalar word = word_at(draw.locals, draw.key, draw.position());
    return cast(DType::Float64, word) < float_literal(DType::Float64, limit_of(draw.lowering.call()));
  });
}

constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([8])", "[True, False, True, False, True, False, True, False]"},
    {"tensor([1, 2], \"uint32\"), R.shape([3, 4]), 0.1",
     "[[True, False, False, False], [False, False, False, False], [False, False, False, False]]"},
    {"tensor([1, 2], \"uint32\"), R.shape([3]), p=1.0", "[True, True, True]"},
    {"tensor([1, 2], \"uint32\"), R.shape([3]), p=0", "[False, False, False]"},
    {"tensor([1, 2], \"uint32\"), R.shape([])", "True"},
    {"tensor([1, 2], \"uint32\"), R.shape([0]), p=0.25"},
    {"tensor([1, 2], \"uint32\"), R.shape([17, 3]), p=0.7"},
};
constexpr Reject rejects[] = {
    {"bernoulli.key", "tensor([0, 0]), R.shape([2])", "expected a key"},
    {"bernoulli.p", "tensor([0, 0], \"uint32\"), R.shape([2]), 1.5", "p is 1.5"},
    {"bernoulli.p", "tensor([0, 0], \"uint32\"), R.shape([2]), -1", "p is -1"},
    {"bernoulli.p", "tensor([0, 0], \"uint32\"), R.shape([2]), \"often\"", "expected float"},
};

}  // namespace

extern const Op op_random_bernoulli =
    random_op({.name = "random.bernoulli",
               .summary = "Random truth values.",
               .params = params,
               .infer = infer,
               .eval = evaluate,
               .lower = lower,
               .samples = samples,
               .rejects = rejects,
               .doc = "Element i is True when word i of the key is less than p * 2^32, so "
                      "with p = 1 all are and with p = 0 "
                      "none is. Where p is a value of a run, compare R.random.uniform with it."});

}  // namespace relish::ops_random_bernoulli
