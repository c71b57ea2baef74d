// The rectifier with slopes that are learnt.
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_nn_prelu {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"alpha", ParamKind::Tensor, "tensor", "", "slopes of what is not positive"},
    {"axis", ParamKind::Attribute, "int", "1", "axis of data that slopes of rank 1 belong to"}};

// The shape in which alpha broadcasts to data: slopes of rank 1 stand on their axis, others to the right.
Dims aligned(const CallView& call, const Dims& alpha, int rank) {
  if (alpha.size() != 1) return alpha;
  Dims dims(static_cast<std::size_t>(rank), Scalar(1));
  dims[static_cast<std::size_t>(normal_axis(call, call.int_attribute("axis"), rank))] = alpha.front();
  return dims;
}

Type infer(const CallView& call) {
  require_float(call, 0);
  const TensorType &data = call.tensor(0), &alpha = call.tensor(1);
  TensorType result = data;
  if (!common_dtype(call, 0, 1)) result.dtype = std::nullopt;
  if (alpha.dtype && !is_float(*alpha.dtype)) require_float(call, 1);
  if (data.rank >= 0 && alpha.rank > data.rank) {
    call.reject(
        "rank", call.span_of(1),
        fmt::format("alpha has rank {} and data has rank {}, expected at most that", alpha.rank, data.rank));
  }
  // The default says nothing of slopes that need no axis.
  const std::int64_t axis = call.int_attribute("axis");
  if (data.rank >= 0 && (alpha.rank == 1 || axis != 1)) normal_axis(call, axis, data.rank);
  const std::optional<Dims> dims = known_dims(data), slopes = known_dims(alpha);
  if (!dims || !slopes) return result;
  const Dims placed = aligned(call, *slopes, data.rank);
  const std::size_t missing = dims->size() - placed.size();
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (is_one(placed[i]) || !prove_different(placed[i], (*dims)[missing + i])) continue;
    call.reject("shape", call.span_of(1),
                fmt::format("alpha of shape {} does not broadcast to data of shape {} at dimension {}",
                            describe_dims(*slopes), describe_dims(*dims), missing + i));
  }
  return result;
}

Value evaluate(const EvalCall& c) {
  const Tensor &data = c.in(0), &alpha = c.in(1);
  Dims dims(alpha.shape().begin(), alpha.shape().end());
  const Shape placed = literal_shape(aligned(c.call, dims, data.rank()));
  Tensor result = Tensor::empty(data.dtype(), data.shape());
  visit_float(data.dtype(), [&](auto element) {
    using T = decltype(element);
    const T *source = data.view<T>().data(), *slopes = alpha.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_row<1>(data.shape(), {broadcast_strides(placed, data.shape())},
                    [&](const auto& at, const auto& step, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        const auto x = to_compute(*source++);
                        const auto slope = to_compute(slopes[at[0] + i * step[0]]);
                        *target++ = from_compute<T>(x > 0 ? x : slope * x);
                      }
                    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), alpha = lowering.input(1);
  const Buffer result = lowering.output();
  const DType compute = compute_dtype(data.dtype());
  lowering.map("prelu", result, [&](const Dims& i) {
    Dims index = i;
    if (alpha.rank() == 1) {
      const auto axis = static_cast<std::size_t>(
          normal_axis(c.call, c.call.int_attribute("axis"), static_cast<int>(i.size())));
      index = lowering.broadcast_index(alpha, {lowering.result_dims()[axis]}, {i[axis]});
    } else {
      index = lowering.broadcast_index(alpha, lowering.result_dims(), i);
    }
    const Scalar x = lowering.load_as(compute, data, i);
    return select(x > zero(compute), x, lowering.load_as(compute, alpha, index) * x);
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent(), data = rule.argument(0), alpha = rule.argument(1);
  const Dims dims = rule.dims(0), slopes = rule.dims(1);
  const GraphValue placed = slopes.size() == 1 && dims.size() > 1
                                ? reshaped(alpha, aligned(c.call, slopes, static_cast<int>(dims.size())))
                                : alpha;
  const GraphValue none = constant_like(g, 0), rising = call_op("greater", {data, none});
  rising.leaf();
  const GraphValue partial = where(rising, none, g * data);
  const Dims target = slopes.size() == 1 ? aligned(c.call, slopes, static_cast<int>(dims.size())) : slopes;
  const GraphValue summed = provably_equal(target, dims)
                                ? partial
                                : call_op("collapse_sum_to", {partial, shape_value(target, c.builder)});
  const bool moved = slopes.size() == 1 && dims.size() > 1;
  return {where(rising, g, g * placed).expr(), (moved ? reshaped(summed, rule.dims(1)) : summed).expr()};
}

constexpr Sample samples[] = {
    {"[[-2.0, 3.0], [4.0, -1.0]], [0.25, 0.5]", "[[-0.5, 3.0], [4.0, -0.5]]"},
    {"[[-2.0, 3.0], [4.0, -1.0]], [0.25, 0.5], axis=0", "[[-0.5, 3.0], [4.0, -0.5]]"},
    {"rand((2, 3, 4), \"float64\") - 1.25, rand((3,), \"float64\")"},
    {"rand((2, 3, 4), \"float64\") - 1.25, rand((4,), \"float64\"), axis=-1"},
    {"rand((2, 3, 4), \"float64\") - 1.25, rand((1,), \"float64\")"},
    {"rand((2, 3, 4), \"float64\") - 1.25, rand((3, 1), \"float64\")"},
    {"rand((0, 3), \"float32\"), rand((3,), \"float32\")"},
    {"rand((5,), \"float32\") - 1.25, rand((), \"float32\")"},
    {"rand((5,), \"float32\") + 0.05, rand((5,), \"float32\"), axis=0"},
};
constexpr Reject rejects[] = {
    {"prelu.dtype", "R.const([[1, 2]], \"int32\"), R.const([1, 2], \"int32\")", "expected a floating dtype"},
    {"prelu.dtype", "rand((1, 2), \"float32\"), rand((2,), \"float64\")", "expected the same"},
    {"prelu.axis", "rand((2,), \"float32\"), rand((2,), \"float32\")", "out of range"},
    {"prelu.rank", "rand((2,), \"float32\"), rand((1, 2), \"float32\")", "expected at most that"},
    {"prelu.axis", "rand((2, 3), \"float32\"), rand((2, 3), \"float32\"), axis=2", "out of range"},
    {"prelu.shape", "rand((2, 3), \"float32\"), rand((2,), \"float32\")", "does not broadcast to data"},
};

}  // namespace

extern const Op op_nn_prelu{
    .name = "nn.prelu",
    .summary = "Each element where it is positive, else a slope of its channel times it.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "ddata = g where data > 0, else g * alpha; dalpha = sum_to(0 where data > 0, else g * data, alpha)",
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Floating dtypes only. Slopes of rank 1 belong to the channels on `axis` (or are one slope for all); "
        "slopes of another rank broadcast to data from the right. The slope at 0 is alpha."};

}  // namespace relish::ops_nn_prelu
