// Counting how often each number occurs.
#include "stdlib/families/elementwise/integer_math.h"
#include "stdlib/families/shapes/movement.h"
#include "support/held_vector.h"

namespace relish::ops_bincount {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "integers, 1-D"},
    {"weights", ParamKind::OptionalTensor, "tensor", "", "what each element counts; absent: 1"},
    {"length", ParamKind::Attribute, "int", "", "the numbers from 0 to length - 1 are counted"}};

std::int64_t length_of(const CallView& call) {
  const std::int64_t length = call.int_attribute("length");
  if (length < 1) call.reject("length", call.span, fmt::format("length is {}, expected at least 1", length));
  return length;
}

Type infer(const CallView& call) {
  require_integer(call, 0, Bools::Refused);
  const std::int64_t length = length_of(call);
  const BroadcastShape shape = shape_of(call.tensor(0));
  if (shape.rank >= 0 && shape.rank != 1)
    call.reject("rank", call.span_of(0), fmt::format("x has rank {}, expected 1", shape.rank));
  std::optional<DType> dtype = DType::Int64;
  if (call.has(1)) {
    require_number(call, 1);
    dtype = call.tensor(1).dtype;
    const BroadcastShape weights = shape_of(call.tensor(1));
    const bool other =
        (weights.rank >= 0 && weights.rank != 1) ||
        (weights.dims && shape.dims && prove_different(weights.dims->front(), shape.dims->front()));
    if (other) {
      call.reject(
          "shape", call.span_of(1),
          fmt::format("weights have shape {}, expected that of x",
                      weights.dims ? describe_dims(*weights.dims) : fmt::format("of rank {}", weights.rank)));
    }
  }
  return TensorType{dtype, Dims{Scalar(length)}, 1};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const std::int64_t length = length_of(c.call);
  const bool weighted = c.args.size() > 1;
  if (weighted && c.in(1).shape() != x.shape()) {
    fail(ErrorClass::Runtime, c.call.span, "bincount.shape",
         fmt::format("bincount: weights have shape ({}) and x ({}), expected the same",
                     fmt::join(c.in(1).shape(), ", "), fmt::join(x.shape(), ", ")));
  }
  Tensor result = Tensor::zeros(*c.result_type.tensor()->dtype, {length});
  visit_dtype(result.dtype(), [&](auto element) {
    using T = decltype(element);
    HeldVector<Sum<T>> totals(static_cast<std::size_t>(length), "the counts of bincount",
                              to_sum(convert_element<T>(0.0)));
    Pace pace;
    for (std::int64_t i = 0; i < x.size(); ++i, pace()) {
      const std::int64_t at = index_at(x, i);
      if (at < 0 || at >= length) continue;
      const T one = weighted ? c.in(1).view<T>()[static_cast<std::size_t>(i)] : convert_element<T>(1.0);
      totals[static_cast<std::size_t>(at)] = totals[static_cast<std::size_t>(at)] + to_sum(one);
    }
    T* target = result.mutable_view<T>().data();
    for (const Sum<T>& total : totals) *target++ = from_sum<T>(total);
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  std::optional<Buffer> weights;
  if (c.call.has(1)) {
    weights = lowering.input(1);
    lowering.require_equal(weights->shape()[0], x.shape()[0], "bincount: weights must have the shape of x");
  }
  const Buffer result = lowering.output();
  const DType wide = compute_dtype(result.dtype());
  const Buffer total = wide == result.dtype() ? result : lowering.temporary("total", result.shape(), wide);
  lowering.map("none", total, [&](const Dims&) { return zero(wide); });
  const Scalar length(length_of(c.call));
  lowering.loops().spatial("count", {}, [&](const Dims&) {
    return repeat_index("i", x.shape(), c.call.span, [&](const Dims& i) {
      const Scalar written = lowering.loops().load(x, i);
      // A number of uint64 beyond int64 is none of those that are counted.
      const Scalar number = cast(DType::Int64, written);
      const Scalar counted = logical(LogicalOp::And, number >= Scalar(0), number < length);
      const Scalar at = select(counted, number, Scalar(0));
      const Scalar one = weights ? lowering.load_as(wide, *weights, i) : literal(wide, 1);
      return lowering.loops().store(total, {at},
                                    lowering.loops().load(total, {at}) + select(counted, one, zero(wide)));
    });
  });
  if (!(total == result))
    lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  Partials partials(c.call.args.size());
  if (!c.call.has(1) || !rule.differentiable(1)) return partials;
  const GraphValue g = rule.cotangent();
  const GraphValue x = call_op("astype", {rule.argument(0)}, {{"dtype", DType::Int64}});
  x.leaf();
  const std::int64_t length = length_of(c.call);
  const GraphValue last = constant_like(x, static_cast<double>(length - 1)), first = constant_like(x, 0);
  const GraphValue place = call_op("minimum", {call_op("maximum", {x, first}), last});
  const GraphValue found = call_op("take", {g, place}, {{"axis", std::int64_t{0}}});
  partials[1] = where(call_op("equal", {place, x}), found, constant_like(g, 0)).expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[0, 2, 1, 2, 2], length=4", "[1, 1, 3, 0]"},
    {"[0, 2, -1, 5, 2], length=3", "[1, 0, 2]"},
    {"[0, 2, 2, 7], [0.5, 1.0, 0.25, 4.0], length=3", "[0.5, 0.0, 1.25]"},
    {"R.const([1, 1, 0, 3, 2, 1], \"int32\"), rand((6,), \"float64\"), length=3"},
    {"R.const([200, 3, 200], \"uint8\"), length=201"},
    {"R.const([1, 1, 0, 3, 2, 1], \"int64\"), rand((6,), \"float32\"), length=5"},
    {"R.const([1, 0], \"int64\"), R.const([3, 4], \"int32\"), length=1"},
};
constexpr Reject rejects[] = {
    {"bincount.dtype", "[0.5], length=3", "expected integers"},
    {"bincount.rank", "[[1]], length=3", "x has rank 2"},
    {"bincount.length", "[1], length=0", "expected at least 1"},
    {"bincount.shape", "[1, 2], rand((3,), \"float32\"), length=3", "expected that of x"},
};

}  // namespace

extern const Op op_bincount{
    .name = "bincount",
    .summary = "How often each of the numbers 0, 1, … occurs, or the sums of weights.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dweights = take(g, x), and 0 where x is not counted",
    .agreement = Agreement::Sum,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Counts are int64; with weights the result has their dtype. The length is given, since the shape of a "
        "result is known before it is computed; what is negative or at least the length is not counted, where "
        "NumPy and PyTorch refuse the one and grow by the other."};

}  // namespace relish::ops_bincount
