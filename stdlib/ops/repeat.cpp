// Repetition: of every element (repeat), of the whole tensor (tile).
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_repeat {
namespace {

constexpr Param repeat_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"repeats", ParamKind::Attribute, "int", "", "how often each element is repeated"},
    {"axis", ParamKind::Attribute, "int or None", "None",
     "dimension that grows; None repeats the elements of the flattened tensor"}};
constexpr Param tile_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"repeats", ParamKind::Attribute, "int or list[int]", "",
     "how often each dimension is repeated; the shorter of repeats and the shape is filled up with 1 on the "
     "left"}};

GraphValue summed(const GraphValue& x, const std::vector<int>& axes) {
  return call_op("sum", {x}, {{"axis", axes_attribute(axes)}, {"keepdims", false}});
}

// --- repeat

std::int64_t times_of(const CallView& call) {
  const std::int64_t times = call.int_attribute("repeats");
  if (times < 0) call.reject("repeats", call.span, fmt::format("repeats is {}, expected 0 or more", times));
  return times;
}

Type infer_repeat(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const Scalar times = times_of(call);
  const BroadcastShape shape = shape_of(data);
  if (call.attribute("axis").is_none()) {
    if (!shape.dims) return TensorType{data.dtype, std::nullopt, 1};
    return TensorType{data.dtype, Dims{canonical(product(*shape.dims) * times)}, 1};
  }
  if (shape.rank < 0) return TensorType{data.dtype, std::nullopt, -1};
  const int axis = normal_axis(call, call.int_attribute("axis"), shape.rank);
  if (!shape.dims) return TensorType{data.dtype, std::nullopt, shape.rank};
  const Scalar dim = canonical((*shape.dims)[static_cast<std::size_t>(axis)] * times);
  return TensorType{data.dtype, replaced_dim(*shape.dims, axis, dim), shape.rank};
}

Value evaluate_repeat(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const std::int64_t times = times_of(c.call);
  const Shape shape = result_shape(c);
  if (c.call.attribute("axis").is_none())
    return gathered(data, shape, [&](const Shape& index) { return index[0] / times; });
  const auto axis = static_cast<std::size_t>(normal_axis(c.call, c.call.int_attribute("axis"), data.rank()));
  return gathered(data, shape, [&](Shape index) {
    index[axis] /= times;
    return position_of(data.shape(), index);
  });
}

PrimFunc lower_repeat(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const Scalar times = std::max<std::int64_t>(times_of(c.call), 1);  // with 0 there is no element
  const bool flat = c.call.attribute("axis").is_none();
  lowering.map("repeat", result, [&](const Dims& i) {
    if (!flat) {
      const int axis = normal_axis(c.call, c.call.int_attribute("axis"), data.rank());
      return lowering.loops().load(
          data, replaced_dim(i, axis, floor_div(i[static_cast<std::size_t>(axis)], times)));
    }
    Scalar rest = floor_div(i[0], times);
    Dims index(data.shape().size());
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = d == 0 ? rest : floor_mod(rest, data.shape()[d]);
      if (d > 0) rest = floor_div(rest, data.shape()[d]);
    }
    return lowering.loops().load(data, index);
  });
  return lowering.finish();
}

// The repetitions become a dimension of their own, over which g is summed.
Partials vjp_repeat(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const Scalar times = times_of(c.call);
  Dims apart = dims;
  std::size_t at = dims.size();
  if (!c.call.attribute("axis").is_none())
    at = static_cast<std::size_t>(
             normal_axis(c.call, c.call.int_attribute("axis"), static_cast<int>(dims.size()))) +
         1;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(at), times);
  const GraphValue g = reshaped(rule.cotangent(), apart);
  return {summed(g, {static_cast<int>(at)}).expr()};
}

constexpr Sample repeat_samples[] = {
    {"[1.0, 2.0], 2", "[1.0, 1.0, 2.0, 2.0]"},
    {"[[1.0, 2.0], [3.0, 4.0]], 2, axis=1", "[[1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 4.0, 4.0]]"},
    {"[[1.0, 2.0], [3.0, 4.0]], 2", "[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]"},
    {"rand((2, 3, 2), \"float64\"), 3, axis=-2"},
    {"rand((), \"float64\"), 3"},
    {"rand((2, 3), \"float32\"), 1, axis=0"},
    {"rand((2, 3), \"float32\"), 0, axis=1", "", false},
    {"rand((0, 3), \"float32\"), 2, axis=1"},
};
constexpr Reject repeat_rejects[] = {
    {"repeat.axis", "rand((2,), \"float32\"), 2, axis=1", "out of range"},
    {"repeat.repeats", "rand((2,), \"float32\"), -1", "expected 0 or more"},
};

// --- tile

std::vector<std::int64_t> tiles_of(const CallView& call) {
  const std::vector<std::int64_t> tiles = int_list(call.attribute("repeats"));
  for (std::int64_t times : tiles) {
    if (times < 0)
      call.reject("repeats", call.span, fmt::format("repeats has {}, expected 0 or more", times));
  }
  return tiles;
}

// Both of the same length: 1s on the left.
struct Tiling {
  std::vector<std::int64_t> times;
  Dims dims;
};
Tiling tiling_of(const CallView& call, const Dims& dims) {
  Tiling result{tiles_of(call), dims};
  const std::size_t rank = std::max(result.times.size(), dims.size());
  result.times.insert(result.times.begin(), rank - result.times.size(), 1);
  result.dims.insert(result.dims.begin(), rank - dims.size(), Scalar(1));
  return result;
}

Type infer_tile(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const BroadcastShape shape = shape_of(data);
  const std::size_t given = tiles_of(call).size();
  if (shape.rank < 0) return TensorType{data.dtype, std::nullopt, -1};
  const int rank = std::max(shape.rank, static_cast<int>(given));
  if (!shape.dims) return TensorType{data.dtype, std::nullopt, rank};
  Tiling tiling = tiling_of(call, *shape.dims);
  for (std::size_t i = 0; i < tiling.dims.size(); ++i)
    tiling.dims[i] = canonical(tiling.dims[i] * Scalar(tiling.times[i]));
  return TensorType{data.dtype, std::move(tiling.dims), rank};
}

Value evaluate_tile(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Shape shape = result_shape(c);
  const std::size_t extra = shape.size() - data.shape().size();
  return gathered(data, shape, [&](const Shape& index) {
    Shape from(index.begin() + static_cast<std::ptrdiff_t>(extra), index.end());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] %= data.shape()[i];
    return position_of(data.shape(), from);
  });
}

PrimFunc lower_tile(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  const Buffer result = lowering.output();
  const Tiling tiling = tiling_of(c.call, data.shape());
  const std::size_t extra = tiling.dims.size() - data.shape().size();
  lowering.map("tile", result, [&](const Dims& i) {
    Dims index;
    for (std::size_t d = extra; d < i.size(); ++d)
      index.push_back(tiling.times[d] == 1 ? i[d] : floor_mod(i[d], tiling.dims[d]));
    return lowering.loops().load(data, index);
  });
  return lowering.finish();
}

// Every dimension becomes two, (times, length); g is summed over the first ones.
Partials vjp_tile(const VjpCall& c) {
  const GradientRule rule(c);
  const Tiling tiling = tiling_of(c.call, rule.dims(0));
  Dims apart;
  std::vector<int> repeated;
  for (std::size_t i = 0; i < tiling.dims.size(); ++i) {
    repeated.push_back(static_cast<int>(apart.size()));
    apart.push_back(Scalar(tiling.times[i]));
    apart.push_back(tiling.dims[i]);
  }
  const GraphValue g = reshaped(rule.cotangent(), apart);
  if (repeated.empty()) return {g.expr()};
  return {reshaped(summed(g, repeated), rule.dims(0)).expr()};
}

constexpr Sample tile_samples[] = {
    {"[1.0, 2.0], 2", "[1.0, 2.0, 1.0, 2.0]"},
    {"[[1.0, 2.0]], [2, 2]", "[[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]"},
    {"[1.0, 2.0], [2, 1]", "[[1.0, 2.0], [1.0, 2.0]]"},
    {"rand((2, 3), \"float64\"), [3]"},
    {"rand((2, 1, 3), \"float64\"), [2, 2]"},
    {"rand((), \"float64\"), [2, 3]"},
    {"rand((), \"float64\"), []"},
    {"rand((0, 3), \"float32\"), [2, 2]"},
    {"rand((2, 3), \"float32\"), [0, 1]", "", false},
    {"rand((0, 3), \"float64\"), [0, 1]"},
};
constexpr Reject tile_rejects[] = {
    {"tile.repeats", "rand((2,), \"float32\"), [2, -1]", "expected 0 or more"},
};

}  // namespace

extern const Op op_repeat{.name = "repeat",
                          .summary = "Repeat every element.",
                          .params = repeat_params,
                          .infer = infer_repeat,
                          .eval = evaluate_repeat,
                          .lower = lower_repeat,
                          .vjp = vjp_repeat,
                          .gradient_doc = "ddata = the sum of g over the repetitions of each element",
                          .agreement = Agreement::DataMovement,
                          .samples = repeat_samples,
                          .rejects = repeat_rejects,
                          .doc = "As numpy.repeat with one number."};

extern const Op op_tile{.name = "tile",
                        .summary = "Repeat a tensor along its dimensions.",
                        .params = tile_params,
                        .infer = infer_tile,
                        .eval = evaluate_tile,
                        .lower = lower_tile,
                        .vjp = vjp_tile,
                        .gradient_doc = "ddata = the sum of g over the copies",
                        .agreement = Agreement::DataMovement,
                        .samples = tile_samples,
                        .rejects = tile_rejects,
                        .doc = "As numpy.tile."};

}  // namespace relish::ops_repeat
