// Normal random numbers.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_random_normal {
namespace {

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, result_shape(c));
  Pace pace;
  for (std::int64_t i = 0; i < result.size(); ++i, pace())
    result.set_double(i, standard_normal(random_double_word(key, static_cast<std::uint64_t>(i))));
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(c, "normal", [](const Draw& draw) {
    const Scalar p = inner_uniform(draw.locals, double_word_at(draw.locals, draw.key, draw.position()));
    return normal_quantile_of(draw.locals, p);
  });
}

// The quantiles are those of Python's statistics module.
constexpr Sample samples[] = {
    {"tensor([1, 2], \"uint32\"), R.shape([2, 3])",
     "[[-2.0166919231414795, -1.025425672531128, -0.32885774970054626], "
     "[-1.0048003196716309, -0.34968772530555725, -0.05944023281335831]]"},
    {"tensor([1, 2], \"uint32\"), R.shape([])", "-2.0166919231414795"},
    {"tensor([0, 0], \"uint32\"), R.shape([4])",
     "[-0.2558159828186035, 0.6301836371421814, 1.9148032665252686, 0.5070237517356873]"},
    {"tensor([4294967295, 4294967295], \"uint32\"), R.shape([3, 1])",
     "[[-0.13116589188575745], [0.31099048256874084], [-1.272799015045166]]"},
    {"tensor([7, 9], \"uint32\"), R.shape([5])",
     "[-0.08090304583311081, -1.0860482454299927, -0.41764116287231445, -0.07973329722881317, "
     "-1.7200777530670166]"},
    {"tensor([2724734818, 698298832], \"uint32\"), R.shape([2, 2])",
     "[[-0.8174103498458862, 0.5602010488510132], [-0.2637944221496582, -0.29219287633895874]]"},
    {"tensor([1, 2], \"uint32\"), R.shape([6]), dtype=\"float64\""},
    {"tensor([1, 2], \"uint32\"), R.shape([40]), dtype=\"float16\""},
    {"tensor([1, 2], \"uint32\"), R.shape([40]), dtype=\"bfloat16\""},
    {"tensor([1, 2], \"uint32\"), R.shape([0])"},
    {"tensor([5, 6], \"uint32\"), R.shape([9, 11, 13]), dtype=\"float64\""},
};
constexpr Reject rejects[] = {
    {"normal.key", "tensor([0.0, 0.0]), R.shape([2])", "expected a key"},
    {"normal.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), dtype=\"uint32\"",
     "expected a floating dtype"},
};

}  // namespace

extern const Op op_random_normal = random_op(
    {.name = "random.normal",
     .summary = "Random numbers of the normal distribution with mean 0 and variance 1.",
     .params = distribution_params,
     .infer = distribution_type,
     .eval = evaluate,
     .lower = lower,
     .samples = samples,
     .rejects = rejects,
     .doc = "Element i is the quantile of (b + 0.5) * 2^-52, where b is the highest 52 bits of the words 2 i "
            "and "
            "2 i + 1 of the key, computed in float64 and rounded once. The quantile is Wichura's AS 241 in "
            "+ - * / and square roots alone, so it has the same bits everywhere; its magnitude is at most "
            "8.21."});

}  // namespace relish::ops_random_normal
