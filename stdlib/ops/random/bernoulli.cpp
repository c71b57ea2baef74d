// Random truth values.
#include "stdlib/families/random.h"

namespace relish {
namespace {

constexpr Param params[] = {key_param,
                            {"shape", ParamKind::Shape, "shape", "", "shape of the result"},
                            {"p", ParamKind::Scalar, "float", "0.5", "probability of True, in [0, 1]"}};

constexpr std::string_view range_message = "p must lie between 0 and 1";

// The number of words below which an element is True, as a real number.
constexpr double word_count = 0x1p32;

Type infer(const CallView& call) {
  require_key(call, 0);
  const DType dtype = call.args[2].type().as<ScalarType>()->dtype;
  if (is_bool(dtype)) call.reject("dtype", call.span_of(2), "p is a bool, expected a number");
  if (const auto* scalar = call.args[2].as<ScalarValueExpr>()) {
    const auto* real = scalar->value.as<FloatLiteral>();
    const std::optional<std::int64_t> integer = scalar->value.as_int();
    const bool good = real      ? real->value >= 0 && real->value <= 1
                      : integer ? *integer == 0 || *integer == 1
                                : true;
    if (!good) call.reject("p", call.span_of(2), std::string(range_message));
  }
  return drawn_type(call, 1, DType::Bool);
}

Value evaluate(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  const ScalarValue& p = c.args[2].scalar();
  const double limit = (is_float(p.dtype) ? p.real : static_cast<double>(p.integer)) * word_count;
  Tensor result = Tensor::empty(DType::Bool, result_shape(c));
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.set_int(i, static_cast<double>(random_word(key, static_cast<std::uint64_t>(i))) < limit);
  return result;
}

PrimFunc lower(const LowerCall& c) {
  return lower_draw(
      c, "bernoulli",
      [](const Draw& draw) {
        const Scalar p = draw.operand->element(DType::Float64, {});
        draw.lowering.require(logical(LogicalOp::And, p >= float_literal(DType::Float64, 0),
                                      p <= float_literal(DType::Float64, 1)),
                              fmt::format("bernoulli: {}", range_message));
        const Scalar word = word_at(draw.locals, draw.key, draw.position());
        return cast(DType::Float64, word) < p * float_literal(DType::Float64, word_count);
      },
      2);
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
    {"bernoulli.p", "tensor([0, 0], \"uint32\"), R.shape([2]), 1.5", "p must lie between 0 and 1"},
    {"bernoulli.p", "tensor([0, 0], \"uint32\"), R.shape([2]), -1", "p must lie between 0 and 1"},
    {"bernoulli.dtype", "tensor([0, 0], \"uint32\"), R.shape([2]), True", "p is a bool"},
};

}  // namespace

extern const Op op_random_bernoulli{.name = "random.bernoulli",
                                    .summary = "Random truth values.",
                                    .params = params,
                                    .infer = infer,
                                    .eval = evaluate,
                                    .lower = lower,
                                    .no_gradient = no_random_gradient,
                                    .zero_gradient = true,
                                    .agreement = Agreement::Random,
                                    .samples = samples,
                                    .rejects = rejects,
                                    .doc =
                                        "Element i is True when word i of the key is less than p * 2^32, so "
                                        "with p = 1 all are and with p = 0 "
                                        "none is. A p that only a run knows is checked there."};

}  // namespace relish
