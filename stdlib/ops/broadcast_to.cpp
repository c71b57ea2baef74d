// Broadcasting to a given shape.
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"

namespace relish::ops_broadcast_to {
namespace {

constexpr Param params[] = {{"x", ParamKind::Tensor, "tensor", "", "input"},
                            {"shape", ParamKind::Shape, "shape", "", "shape of the result"}};

constexpr Param like_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"broadcast_type", ParamKind::Tensor, "tensor", "", "has the shape of the result"}};

// The wanted shape: that of a tensor, or the shape itself.
BroadcastShape target_of(const CallView& call) {
  return call.args[1].type().tensor() ? shape_of(call.tensor(1)) : shape_argument(call, 1);
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape from = shape_of(x), to = target_of(call);
  if (from.rank >= 0 && to.rank >= 0 && from.rank > to.rank) {
    call.reject("rank", call.span, fmt::format("x has rank {}, the shape has rank {}", from.rank, to.rank));
  }
  if (from.dims && to.dims) {
    const std::size_t missing = to.dims->size() - from.dims->size();
    for (std::size_t i = 0; i < from.dims->size(); ++i) {
      const Scalar& have = (*from.dims)[i];
      const Scalar& want = (*to.dims)[missing + i];
      if (!is_one(have) && have.as_int() && want.as_int() && *have.as_int() != *want.as_int()) {
        call.reject("shape", call.span,
                    fmt::format("x of shape {} does not broadcast to {}: dimension {} is {}",
                                describe_dims(*from.dims), describe_dims(*to.dims), i, *have.as_int()));
      }
    }
  }
  return tensor_of(to, x.dtype);
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  const Shape shape = result_shape(c);
  if (broadcast_values(c.call, x.shape(), shape) != shape) {
    fail(ErrorClass::Runtime, c.call.span, fmt::format("{}.shape", c.call.op.name),
         fmt::format("{}: x of shape ({}) does not broadcast to ({})", c.call.op.name,
                     fmt::join(x.shape(), ", "), fmt::join(shape, ", ")));
  }
  Tensor result = Tensor::empty(x.dtype(), shape);
  visit_dtype(x.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* source = x.view<T>().data();
    T* target = result.mutable_view<T>().data();
    for_each_row<1>(shape, {broadcast_strides(x.shape(), shape)},
                    [&](const auto& offsets, const auto& steps, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i) *target++ = source[offsets[0] + i * steps[0]];
                    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  if (c.call.args[1].type().tensor()) lowering.input(1);
  const Buffer result = lowering.output();
  lowering.map("broadcast", result, [&](const Dims& i) {
    return lowering.loops().load(x, lowering.broadcast_index(x, result.shape(), i));
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  return {call_op("collapse_sum_to", {rule.cotangent(), rule.shape(0)}).expr(), std::nullopt};
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0], R.shape([2, 3])", "[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]"},
    {"[[1.0], [2.0]], R.shape([2, 3])", "[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]"},
    {"rand((2, 1, 4), \"float64\"), R.shape([3, 2, 5, 4])"},
    {"rand((), \"float32\"), R.shape([2, 2])"},
    {"rand((1, 3), \"float32\"), R.shape([0, 3])"},
    {"rand((), \"float64\"), R.shape([])"},
};
constexpr Reject rejects[] = {
    {"broadcast_to.shape", "rand((2,), \"float32\"), R.shape([3])", "does not broadcast"},
    {"broadcast_to.rank", "rand((2, 3), \"float32\"), R.shape([3])", "x has rank 2"},
};

constexpr Sample like_samples[] = {
    {"[1.0, 2.0], [[0.0, 0.0], [0.0, 0.0]]", "[[1.0, 2.0], [1.0, 2.0]]"},
    {"[[1.0], [2.0]], R.const([[1, 2, 3], [4, 5, 6]], \"int32\")", "[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]"},
    {"rand((2, 1, 4), \"float64\"), rand((3, 2, 5, 4), \"float64\")"},
    {"rand((), \"float64\"), rand((2, 2), \"float64\")"},
    {"rand((1, 3), \"float32\"), rand((0, 3), \"float32\")"},
    {"rand((2, 3), \"float64\"), rand((2, 3), \"float64\")"},
};
constexpr Reject like_rejects[] = {
    {"broadcast_to_like.shape", "rand((2,), \"float32\"), rand((3,), \"float32\")", "does not broadcast"},
    {"broadcast_to_like.rank", "rand((2, 3), \"float32\"), rand((3,), \"float32\")", "the shape has rank 1"},
};

}  // namespace

extern const Op op_broadcast_to_like{
    .name = "broadcast_to_like",
    .summary = "Stretch a tensor to the shape of another one.",
    .params = like_params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = collapse_sum_to(g, shape of data)",
    .agreement = Agreement::DataMovement,
    .samples = like_samples,
    .rejects = like_rejects,
    .doc = "An operator of 2019: broadcast_to(data, shape_of(broadcast_type)). The second has no gradient."};

extern const Op op_broadcast_to{
    .name = "broadcast_to",
    .summary = "Stretch a tensor to a given shape.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = collapse_sum_to(g, shape of x)",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "Shapes are aligned on the right; a dimension 1 stretches, and missing ones are added on the left."};

}  // namespace relish::ops_broadcast_to
