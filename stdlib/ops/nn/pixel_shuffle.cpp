// Channels to pixels.
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_nn_pixel_shuffle {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "(…, C * r * r, H, W)"},
    {"upscale_factor", ParamKind::Attribute, "int", "", "r, by which height and width grow"}};

std::int64_t factor_of(const CallView& call) {
  const std::int64_t factor = call.int_attribute("upscale_factor");
  if (factor < 1)
    call.reject("factor", call.span, fmt::format("upscale_factor is {}, expected at least 1", factor));
  if (factor > INT32_MAX) {  // its square is a number of channels
    call.reject("factor", call.span,
                fmt::format("upscale_factor is {}, expected at most {}", factor, INT32_MAX));
  }
  return factor;
}

Type infer(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const Scalar r = factor_of(call);
  const BroadcastShape shape = shape_of(data);
  if (shape.rank >= 0 && shape.rank < 3)
    call.reject("rank", call.span_of(0), fmt::format("data has rank {}, expected at least 3", shape.rank));
  if (!shape.dims) return TensorType{data.dtype, std::nullopt, shape.rank};
  Dims dims = *shape.dims;
  const std::size_t channel = dims.size() - 3;
  const auto channels = dims[channel].as_int(), squared = canonical(r * r).as_int();
  if (channels && *channels % *squared != 0) {
    call.reject("channels", call.span_of(0),
                fmt::format("data has {} channels, expected a multiple of {}", *channels, *squared));
  }
  dims[channel] = canonical(floor_div(dims[channel], r * r));
  dims[channel + 1] = canonical(dims[channel + 1] * r);
  dims[channel + 2] = canonical(dims[channel + 2] * r);
  return TensorType{data.dtype, std::move(dims), shape.rank};
}

Value evaluate(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const std::int64_t r = factor_of(c.call);
  const std::size_t channel = data.shape().size() - 3;
  return gathered(data, result_shape(c), [&](Shape index) {
    index[channel] = (index[channel] * r + index[channel + 1] % r) * r + index[channel + 2] % r;
    index[channel + 1] /= r;
    index[channel + 2] /= r;
    return position_of(data.shape(), index);
  });
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const Scalar r = factor_of(c.call);
  const std::size_t channel = data.shape().size() - 3;
  lowering.require_equal(data.shape()[channel], result.shape()[channel] * r * r,
                         "pixel_shuffle: the channels must be a multiple of the squared factor");
  lowering.map("shuffle", result, [&](const Dims& i) {
    Dims index = i;
    index[channel] = i[channel] * (r * r) + floor_mod(i[channel + 1], r) * r + floor_mod(i[channel + 2], r);
    index[channel + 1] = floor_div(i[channel + 1], r);
    index[channel + 2] = floor_div(i[channel + 2], r);
    return lowering.loops().load(data, index);
  });
  return lowering.finish();
}

// (…, C, H, r, W, r) of g in the order (…, C, r, r, H, W).
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const Scalar r = factor_of(c.call);
  const std::size_t channel = dims.size() - 3;
  Dims apart(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(channel));
  for (const Scalar& dim :
       {canonical(floor_div(dims[channel], r * r)), dims[channel + 1], r, dims[channel + 2], r})
    apart.push_back(dim);
  std::vector<int> order;
  for (std::size_t d = 0; d <= channel; ++d) order.push_back(static_cast<int>(d));
  for (const int d : {2, 4, 1, 3}) order.push_back(static_cast<int>(channel) + d);
  const GraphValue split = reshaped(rule.cotangent(), apart);
  const GraphValue moved = call_op("permute_dims", {split}, {{"axes", axes_attribute(order)}});
  return {reshaped(moved, rule.dims(0)).expr()};
}

constexpr Sample samples[] = {
    {"[[[1.0]], [[2.0]], [[3.0]], [[4.0]]], upscale_factor=2", "[[[1.0, 2.0], [3.0, 4.0]]]"},
    {"rand((2, 8, 3, 2), \"float64\"), 2"},
    {"rand((9, 1, 2), \"float64\"), 3"},
    {"rand((1, 2, 4, 2, 2), \"float64\"), 2"},
    {"rand((3, 2, 2), \"float32\"), 1"},
    {"rand((4, 0, 3), \"float32\"), 2"},
};
constexpr Reject rejects[] = {
    {"pixel_shuffle.factor", "rand((4, 1, 1), \"float32\"), 0", "expected at least 1"},
    {"pixel_shuffle.rank", "rand((4, 1), \"float32\"), 2", "expected at least 3"},
    {"pixel_shuffle.channels", "rand((6, 1, 1), \"float32\"), 2", "a multiple of 4"},
};

}  // namespace

extern const Op op_nn_pixel_shuffle{
    .name = "nn.pixel_shuffle",
    .summary = "Rearrange channels as pixels: (…, C * r * r, H, W) to (…, C, H * r, W * r).",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = g rearranged back",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc = "result[c, h * r + i, w * r + j] = data[(c * r + i) * r + j, h, w]."};

}  // namespace relish::ops_nn_pixel_shuffle
