// The interval between boundaries in which each element lies.
#include "stdlib/families/language/pace.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_bucketize {
namespace {

constexpr Param params[] = {
    {"input", ParamKind::Tensor, "tensor", "", "input"},
    {"boundaries", ParamKind::Tensor, "tensor", "", "ascending numbers, 1-D"},
    {"out_int32", ParamKind::Attribute, "bool", "False", "positions as int32 instead of int64"},
    {"right", ParamKind::Attribute, "bool", "False", "an element that equals a boundary lies above it"}};

bool flag(const CallView& call, std::string_view name) { return *call.attribute(name).as<bool>(); }

Type infer(const CallView& call) {
  require_number(call, 0);
  require_same_dtype(call, 0, 1);
  const int rank = shape_of(call.tensor(1)).rank;
  if (rank >= 0 && rank != 1)
    call.reject("rank", call.span_of(1), fmt::format("boundaries have rank {}, expected 1", rank));
  TensorType result = call.tensor(0);
  result.dtype = flag(call, "out_int32") ? DType::Int32 : DType::Int64;
  return result;
}

// The boundaries below each element are counted, so that boundaries in disorder have a meaning too.
Value evaluate(const EvalCall& c) {
  const Tensor& input = c.in(0);
  Tensor result = Tensor::empty(*c.result_type.tensor()->dtype, input.shape());
  const bool right = flag(c.call, "right");
  visit_dtype(input.dtype(), [&](auto element) {
    using T = decltype(element);
    Pace pace;
    for (std::int64_t i = 0; i < input.size(); ++i) {
      pace(1 + c.in(1).size());
      const auto x = to_compute(input.view<T>()[static_cast<std::size_t>(i)]);
      std::int64_t count = 0;
      for (const T& boundary : c.in(1).view<T>()) {
        const auto b = to_compute(boundary);
        count += right ? !(b > x) : !(b >= x);
      }
      result.set_int(i, count);
    }
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer input = lowering.input(0), boundaries = lowering.input(1);
  const Buffer result = lowering.output();
  const DType wide = compute_dtype(input.dtype()), out = result.dtype();
  const CompareOp above = flag(c.call, "right") ? CompareOp::Gt : CompareOp::Ge;
  lowering.reduce("count", result, input.shape(), boundaries.shape(), [&](const Dims& i, const Dims& k) {
    const Scalar above_x =
        compare(above, lowering.load_as(wide, boundaries, k), lowering.load_as(wide, input, i));
    return select(above_x, literal(out, 0), literal(out, 1));
  });
  return lowering.finish();
}

constexpr Sample samples[] = {
    {"[0.5, 1.0, 2.5, 9.0], [1.0, 2.0, 3.0]", "[0, 0, 2, 3]"},
    {"[0.5, 1.0, 2.5, 9.0], [1.0, 2.0, 3.0], right=True", "[0, 1, 2, 3]"},
    {"R.const([[1, 5], [3, 4]], \"int32\"), R.const([2, 4], \"int32\"), out_int32=True", "[[0, 2], [1, 1]]"},
    {"rand((2, 3), \"float64\"), rand((4,), \"float64\")"},
    {"rand((), \"float32\"), rand((0,), \"float32\")", "0"},
    {"rand((0, 2), \"float32\"), rand((4,), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"bucketize.rank", "rand((2,), \"float32\"), rand((2, 1), \"float32\")", "expected 1"},
    {"bucketize.dtype", "rand((2,), \"float32\"), rand((2,), \"float64\")", "expected the same"},
};

}  // namespace

extern const Op op_bucketize{
    .name = "bucketize",
    .summary = "The interval between ascending boundaries in which each element lies.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .no_gradient = "the result is a position",
    .zero_gradient = true,
    .agreement = Agreement::Index,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Position i says boundaries[i-1] < x <= boundaries[i], with right=True boundaries[i-1] <= x < "
        "boundaries[i]: the number of boundaries that are not above x. NaN lies behind all."};

}  // namespace relish::ops_bucketize
