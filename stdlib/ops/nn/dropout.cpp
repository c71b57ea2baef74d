// Dropout: the operator of TVM, which is identity, and the one that draws.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/language/random.h"

namespace relish::ops_nn_dropout {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"rate", ParamKind::Attribute, "float", "0.5", "probability that an element is dropped, in [0, 1)"}};
constexpr Param random_params[] = {
    key_param,
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"rate", ParamKind::Attribute, "float", "0.5", "probability that an element is dropped, in [0, 1)"}};

double rate_of(const CallView& call) { return *call.attribute("rate").as<double>(); }

Type checked(const CallView& call, std::size_t data) {
  require_float(call, data);
  const double rate = rate_of(call);
  if (!(rate >= 0 && rate < 1))
    call.reject("rate", call.span, fmt::format("rate is {}, expected a number in [0, 1)", rate));
  return TupleType{{call.tensor(data), call.tensor(data)}};
}

// --- Inference.

Type infer(const CallView& call) { return checked(call, 0); }

Value evaluate(const EvalCall& c) {
  Tensor mask = Tensor::empty(c.in(0).dtype(), c.in(0).shape());
  Pace pace;
  for (std::int64_t i = 0; i < mask.size(); ++i, pace()) mask.set_double(i, 1);
  return Value::tuple({c.in(0), mask});
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output(0, "result"), mask = lowering.output(1, "mask");
  lowering.map("copy", result, [&](const Dims& i) { return lowering.loops().load(data, i); });
  lowering.map("ones", mask, [&](const Dims&) { return literal(mask.dtype(), 1); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) { return {GradientRule(c).cotangent(0).expr()}; }

// --- With a key.

Type infer_random(const CallView& call) {
  require_key(call, 0);
  return checked(call, 1);
}

// Words of the key below this drop their element.
double limit_of(const CallView& call) { return rate_of(call) * 0x1p32; }

Value evaluate_random(const EvalCall& c) {
  const RandomKey key = key_value(c, 0);
  const Tensor& data = c.in(1);
  Tensor result = Tensor::empty(data.dtype(), data.shape()), mask = result.copy();
  visit_float(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T factor = from_compute<T>(Compute<T>(1) / static_cast<Compute<T>>(1 - rate_of(c.call)));
    Pace pace;
    for (std::int64_t i = 0; i < data.size(); ++i, pace()) {
      const auto word = random_word(key, static_cast<std::uint64_t>(i));
      const T kept = static_cast<double>(word) < limit_of(c.call) ? from_compute<T>(0) : factor;
      mask.template mutable_view<T>()[static_cast<std::size_t>(i)] = kept;
      const T x = data.template view<T>()[static_cast<std::size_t>(i)];
      result.template mutable_view<T>()[static_cast<std::size_t>(i)] =
          from_compute<T>(to_compute(x) * to_compute(kept));
    }
  });
  return Value::tuple({result, mask});
}

PrimFunc lower_random(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer key = lowering.input(0), data = lowering.input(1);
  lowering.require_equal(key.shape().at(0), Scalar(2), "dropout: key must have 2 elements");
  const Buffer result = lowering.output(0, "result"), mask = lowering.output(1, "mask");
  const DType wide = compute_dtype(data.dtype());
  lowering.loops().spatial("mask", mask.shape(), [&](const Dims& i) {
    LocalStatements locals(c.call.span);
    const KeyWords words{lowering.loops().load(key, {Scalar(0)}), lowering.loops().load(key, {Scalar(1)})};
    const Scalar word = word_at(locals, words, locals.let("position", flat_index(mask.shape(), i)));
    const Scalar dropped = cast(DType::Float64, word) < float_literal(DType::Float64, limit_of(c.call));
    const Scalar factor = float_literal(wide, 1) / cast(wide, float_literal(wide, 1 - rate_of(c.call)));
    locals.append(lowering.store_as(mask, i, select(dropped, float_literal(wide, 0), factor)));
    return locals.finish();
  });
  lowering.map("dropout", result, [&](const Dims& i) {
    return lowering.load_as(wide, data, i) * lowering.load_as(wide, mask, i);
  });
  return lowering.finish();
}

// The mask depends on the key alone.
Partials vjp_random(const VjpCall& c) {
  const GradientRule rule(c);
  return {std::nullopt, (rule.cotangent(0) * rule.result(1)).expr()};
}

constexpr Sample samples[] = {
    {"[1.0, -2.0, 3.0]", "(tensor([1.0, -2.0, 3.0]), tensor([1.0, 1.0, 1.0]))"},
    {"rand((2, 3), \"float64\"), rate=0.25"},
    {"rand((), \"float32\"), 0.0"},
    {"rand((0, 3), \"float32\")"},
    {"rand((17, 2), \"float32\"), rate=0.9"},
};
constexpr Sample random_samples[] = {
    {"tensor([1, 2], \"uint32\"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]",
     "(tensor([0.0, 4.0, 0.0, 8.0, 0.0, 12.0, 0.0, 16.0]), tensor([0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 0.0, "
     "2.0]))"},
    {"tensor([3, 5], \"uint32\"), [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]], "
     "rate=0.75",
     "(tensor([[0.0, 0.0, 12.0, 0.0], [0.0, 24.0, 0.0, 0.0], [36.0, 0.0, 0.0, 0.0]]), tensor([[0.0, 0.0, "
     "4.0, 0.0], [0.0, 4.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0]]))"},
    {"tensor([0, 0], \"uint32\"), [1.0, -2.0], rate=0.0", "(tensor([1.0, -2.0]), tensor([1.0, 1.0]))"},
    {"tensor([4294967295, 4294967295], \"uint32\"), [1.0, 2.0, -3.0, 4.0]",
     "(tensor([0.0, 0.0, -6.0, 0.0]), tensor([0.0, 0.0, 2.0, 0.0]))"},
    {"tensor([7, 9], \"uint32\"), [3.0]", "(tensor([0.0]), tensor([0.0]))"},
    {"tensor([1, 2], \"uint32\"), rand((3, 4), \"float64\"), rate=0.25"},
    {"tensor([7, 9], \"uint32\"), rand((5, 3), \"float32\"), rate=0.0"},
    {"tensor([7, 9], \"uint32\"), rand((), \"float32\")"},
    {"tensor([7, 9], \"uint32\"), rand((0, 3), \"float32\"), rate=0.9"},
};
constexpr Reject rejects[] = {
    {"dropout.rate", "[1.0, 2.0], rate=1.0", "rate is 1"},
    {"dropout.rate", "[1.0, 2.0], rate=-0.5", "rate is -0.5"},
    {"dropout.dtype", "[1, 2]", "expected a floating dtype"},
};
constexpr Reject random_rejects[] = {
    {"dropout.rate", "tensor([1, 2], \"uint32\"), [1.0, 2.0], rate=1.0", "rate is 1"},
    {"dropout.key", "tensor([1, 2]), [1.0, 2.0]", "expected a key"},
    {"dropout.dtype", "tensor([1, 2], \"uint32\"), [1, 2]", "expected a floating dtype"},
};

}  // namespace

extern const Op op_nn_dropout{
    .name = "nn.dropout",
    .summary = "The input and a mask of ones: dropout at inference.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = g of the first result",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Gives (data, ones), whatever the rate: the operator has no source of randomness. Dropout of a "
        "training step is R.random.dropout, which takes a key."};

extern const Op op_random_dropout{
    .name = "random.dropout",
    .summary = "Elements set to 0 at random and the others enlarged to make up for them, and the mask.",
    .params = random_params,
    .infer = infer_random,
    .eval = evaluate_random,
    .lower = lower_random,
    .vjp = vjp_random,
    .gradient_doc = "ddata = g of the first result * mask; the key has none",
    .agreement = Agreement::Random,
    .samples = random_samples,
    .rejects = random_rejects,
    .doc =
        "Gives (data * mask, mask). Element i of the mask is 0 when word i of the key is less than rate * "
        "2^32, else 1 / (1 - rate). An extension of Relish; nn.dropout is what it is at inference."};

}  // namespace relish::ops_nn_dropout
