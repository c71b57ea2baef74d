// The points at which an affine map reads an image or volume, and the gradient of that.
#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/windows/windows.h"

namespace relish::ops_image_affine_grid {
namespace {

constexpr Param params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "maps, (batch, 2, 3) for images and (batch, 3, 4) for volumes"},
    {"size", ParamKind::Shape, "shape", "", "spatial sizes of the grid"},
    {"align_corners", ParamKind::Attribute, "bool", "True",
     "-1 and 1 are the centres of the outer cells; else their outer borders"}};
constexpr Param backward_params[] = {
    {"output_grad", ParamKind::Tensor, "tensor", "", "gradient of the grid, (batch, 2 or 3, spatial)"},
    {"align_corners", ParamKind::Attribute, "bool", "True", "as of the grid"}};

bool aligned(const CallView& call) { return call.int_attribute("align_corners") != 0; }

Type infer(const CallView& call) {
  require_float(call, 0);
  const TensorType& type = call.tensor(0);
  const BroadcastShape data = shape_of(type), size = shape_argument(call, 1);
  if (data.rank >= 0 && data.rank != 3)
    call.reject("rank", call.span_of(0), fmt::format("data has rank {}, expected 3", data.rank));
  if (size.rank >= 0 && size.rank != 2 && size.rank != 3)
    call.reject("size", call.span_of(1), fmt::format("size has {} numbers, expected 2 or 3", size.rank));
  if (data.dims && size.rank >= 0 &&
      (prove_different((*data.dims)[1], size.rank) || prove_different((*data.dims)[2], size.rank + 1))) {
    call.reject("shape", call.span_of(0),
                fmt::format("data has shape {}, expected maps ({}, {}) for a grid of {} dimensions",
                            describe_dims(*data.dims), size.rank, size.rank + 1, size.rank));
  }
  if (!data.dims || !size.dims)
    return TensorType{type.dtype, std::nullopt, size.rank < 0 ? -1 : size.rank + 2};
  Dims dims = {(*data.dims)[0], size.rank};
  dims.insert(dims.end(), size.dims->begin(), size.dims->end());
  return TensorType{type.dtype, std::move(dims), size.rank + 2};
}

Type infer_backward(const CallView& call) {
  require_float(call, 0);
  const TensorType& type = call.tensor(0);
  const BroadcastShape g = shape_of(type);
  if (g.rank >= 0 && g.rank != 4 && g.rank != 5)
    call.reject("rank", call.span_of(0), fmt::format("output_grad has rank {}, expected 4 or 5", g.rank));
  if (!g.dims) return TensorType{type.dtype, std::nullopt, 3};
  if (prove_different((*g.dims)[1], g.rank - 2)) {
    call.reject("shape", call.span_of(0),
                fmt::format("output_grad has {} coordinates, expected {}", print((*g.dims)[1]), g.rank - 2));
  }
  return TensorType{type.dtype, Dims{(*g.dims)[0], g.rank - 2, g.rank - 1}, 3};
}

double coordinate(bool align, std::int64_t i, std::int64_t size) {
  if (align) return size > 1 ? 2 * static_cast<double>(i) / static_cast<double>(size - 1) - 1 : 0;
  return (2 * static_cast<double>(i) + 1) / static_cast<double>(size) - 1;
}

// Calls term(map element, grid element, factor) for all products: grid[n, r, p] += map[n, r, k] * base[k, p],
// where base are the coordinates of p from the last dimension on, then 1.
template <class Term>
void for_each_term(const Shape& grid, bool align, Term&& term) {
  const auto rank = static_cast<std::int64_t>(grid.size()) - 2;
  std::int64_t at = 0;
  windows::for_each_index(grid, [&](const Shape& p) {
    const std::int64_t row = (p[0] * rank + p[1]) * (rank + 1);
    for (std::int64_t k = 0; k < rank; ++k) {
      const auto d = static_cast<std::size_t>(2 + rank - 1 - k);
      term(row + k, at, coordinate(align, p[d], grid[d]));
    }
    term(row + rank, at, 1.0);
    ++at;
  });
}

Value evaluate(const EvalCall& c) {
  const Tensor& data = c.in(0);
  const Shape shape = result_shape(c);
  Tensor totals = Tensor::zeros(DType::Float64, shape);
  for_each_term(shape, aligned(c.call), [&](std::int64_t map, std::int64_t grid, double factor) {
    totals.set_double(grid, totals.get_double(grid) + factor * data.get_double(map));
  });
  return convert_tensor(totals, data.dtype());
}

Value evaluate_backward(const EvalCall& c) {
  const Tensor& g = c.in(0);
  Tensor totals = Tensor::zeros(DType::Float64, result_shape(c));
  for_each_term(g.shape(), aligned(c.call), [&](std::int64_t map, std::int64_t grid, double factor) {
    totals.set_double(map, totals.get_double(map) + factor * g.get_double(grid));
  });
  return convert_tensor(totals, g.dtype());
}

Scalar real(double value) { return float_literal(DType::Float64, value); }

Scalar lowered_coordinate(bool align, const Scalar& i, const Scalar& size) {
  const Scalar at = cast(DType::Float64, i), cells = cast(DType::Float64, size);
  if (!align) return (real(2) * at + real(1)) / cells - real(1);
  return if_then_else(size > Scalar(1), real(2) * at / (cells - real(1)) - real(1), real(0));
}

// The factor of column k of a map for a point with these spatial indices.
Scalar lowered_factor(bool align, const Scalar& k, const Dims& point, const Dims& sizes) {
  Scalar result = real(1);
  const std::size_t rank = sizes.size();
  for (std::size_t d = 0; d < rank; ++d) {
    result = select(equal(k, Scalar(static_cast<std::int64_t>(rank - 1 - d))),
                    lowered_coordinate(align, point[d], sizes[d]), result);
  }
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), result = lowering.output();
  const Dims& shape = result.shape();
  const Scalar rank(result.rank() - 2);
  lowering.require_equal(data.shape()[1], rank, "affine_grid: a map has another number of rows");
  lowering.require_equal(data.shape()[2], rank + Scalar(1),
                         "affine_grid: a map has another number of columns");
  const Buffer total = lowering.temporary("total", shape, DType::Float64);
  lowering.reduce("affine_grid", total, shape, {canonical(rank + Scalar(1))},
                  [&](const Dims& s, const Dims& r) {
                    return lowered_factor(aligned(c.call), r[0], Dims(s.begin() + 2, s.end()),
                                          Dims(shape.begin() + 2, shape.end())) *
                           lowering.load_as(DType::Float64, data, {s[0], s[1], r[0]});
                  });
  lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  return lowering.finish();
}

PrimFunc lower_backward(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer g = lowering.input(0), result = lowering.output();
  const Dims points(g.shape().begin() + 2, g.shape().end());
  lowering.require_equal(g.shape()[1], Scalar(g.rank() - 2),
                         "affine_grid_backward: output_grad has another number of coordinates");
  const Buffer total = lowering.temporary("total", result.shape(), DType::Float64);
  lowering.reduce("affine_grid_backward", total, result.shape(), points, [&](const Dims& s, const Dims& r) {
    Dims index = {s[0], s[1]};
    index.insert(index.end(), r.begin(), r.end());
    return lowered_factor(aligned(c.call), s[2], r, points) * lowering.load_as(DType::Float64, g, index);
  });
  lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  Partials partials(2);
  partials[0] = call_op("grad.affine_grid_backward", {rule.cotangent()},
                        {{"align_corners", c.call.attribute("align_corners")}})
                    .expr();
  return partials;
}

Partials vjp_backward(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const GraphValue size = shape_value(Dims(dims.begin() + 2, dims.end()), c.builder);
  return {call_op("image.affine_grid", {rule.cotangent(), size},
                  {{"align_corners", c.call.attribute("align_corners")}})
              .expr()};
}

constexpr Sample samples[] = {
    {"[[[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]]], (2, 3)",
     "[[[[-0.5, 0.5, 1.5], [-0.5, 0.5, 1.5]], [[-2.0, -2.0, -2.0], [2.0, 2.0, 2.0]]]]"},
    {"[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], (1, 2), align_corners=False", "[[[[-0.5, 0.5]], [[0.0, 0.0]]]]"},
    {"rand((2, 2, 3), \"float64\"), (3, 4)"},
    {"rand((1, 3, 4), \"float64\"), (2, 3, 2), align_corners=False"},
    {"rand((1, 3, 4), \"float32\"), (2, 1, 5)"},
    {"rand((0, 2, 3), \"float32\"), (2, 2)"},
    {"[[[1.0, 2.0, 0.5], [3.0, 4.0, -0.25]]], (1, 1)", "[[[[0.5]], [[-0.25]]]]"},
};
constexpr Reject rejects[] = {
    {"affine_grid.rank", "rand((2, 3), \"float32\"), (2, 2)", "expected 3"},
    {"affine_grid.size", "rand((1, 2, 3), \"float32\"), (2,)", "expected 2 or 3"},
    {"affine_grid.shape", "rand((1, 2, 3), \"float32\"), (2, 2, 2)", "expected maps (3, 4)"},
};
constexpr Sample backward_samples[] = {
    {"[[[[1.0, 2.0]], [[4.0, 8.0]]]], align_corners=False", "[[[0.5, 0.0, 3.0], [2.0, 0.0, 12.0]]]"},
    {"rand((2, 2, 3, 4), \"float64\")"},
    {"rand((1, 3, 2, 3, 2), \"float64\"), align_corners=False"},
    {"rand((1, 2, 1, 1), \"float32\")"},
    {"rand((0, 2, 3, 3), \"float32\")"},
};
constexpr Reject backward_rejects[] = {
    {"affine_grid_backward.rank", "rand((1, 2, 3), \"float32\")", "expected 4 or 5"},
    {"affine_grid_backward.shape", "rand((1, 3, 3, 3), \"float32\")", "has 3 coordinates, expected 2"},
};

}  // namespace

extern const Op op_image_affine_grid{
    .name = "image.affine_grid",
    .summary = "Points of a regular grid under affine maps.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "ddata = grad.affine_grid_backward(g)",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "The regular grid runs from -1 to 1 in each dimension (a single point is at 0, whatever "
        "align_corners says); the first coordinate is that of the last dimension. The sums are in float64."};

extern const Op op_grad_affine_grid_backward{
    .name = "grad.affine_grid_backward",
    .summary = "Gradient of image.affine_grid for its maps.",
    .params = backward_params,
    .infer = infer_backward,
    .eval = evaluate_backward,
    .lower = lower_backward,
    .vjp = vjp_backward,
    .gradient_doc = "doutput_grad = image.affine_grid(g)",
    .agreement = Agreement::Composite,
    .samples = backward_samples,
    .rejects = backward_rejects,
    .doc = "Sums output_grad times the coordinates of the regular grid. TVM has no such operator."};

}  // namespace relish::ops_image_affine_grid
