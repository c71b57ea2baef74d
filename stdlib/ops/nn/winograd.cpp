// Convolution by Winograd's minimal filtering, in two steps: the transform of the kernels, done once, and the
// convolution with transformed kernels.
#include <cmath>

#include "ir/printer/printer.h"
#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"
#include "stdlib/families/windows/windows.h"
#include "support/held_vector.h"

namespace relish::ops_nn_winograd {
namespace {

using Matrix = std::vector<std::vector<double>>;

// For m outputs and a kernel of r, with n = m + r - 1 multiplications: y = A^T ((G g) * (B^T d)), where A and
// G hold powers of n - 1 points and of infinity, and B^T the coefficients of the products of (x - point).
struct Transforms {
  Matrix a, g, bt;  // (n, m), (n, r), (n, n)

  Transforms(std::int64_t m, std::int64_t r) {
    constexpr double points[] = {0, 1, -1, 2, -2, 0.5, -0.5, 3, -3};
    const auto n = static_cast<std::size_t>(m + r - 1);
    const auto powers = [&](std::size_t e, std::int64_t count, double scale) {
      std::vector<double> row;
      for (std::int64_t k = 0; k < count; ++k) {
        const bool infinite = e + 1 == n;
        row.push_back(infinite ? (k + 1 == count ? 1 : 0)
                               : scale * std::pow(points[e], static_cast<double>(k)));
      }
      return row;
    };
    for (std::size_t e = 0; e < n; ++e) {
      double distance = 1;
      std::vector<double> polynomial = {1};  // the constant first
      for (std::size_t j = 0; j + 1 < n; ++j) {
        if (j == e) continue;
        if (e + 1 < n) distance *= points[e] - points[j];
        polynomial.push_back(0);
        for (std::size_t k = polynomial.size(); k-- > 0;)
          polynomial[k] = (k > 0 ? polynomial[k - 1] : 0) - points[j] * polynomial[k];
      }
      polynomial.resize(n, 0);
      a.push_back(powers(e, m, 1));
      g.push_back(powers(e, r, 1 / distance));
      bt.push_back(polynomial);
    }
  }
};

constexpr std::int64_t most_points = 10;

std::int64_t tile_size(const CallView& call) {
  const std::int64_t tile = call.int_attribute("tile_size");
  if (tile < 1 || tile >= most_points)
    call.reject("tile_size", call.span,
                fmt::format("tile_size is {}, expected 1 to {}", tile, most_points - 1));
  return tile;
}

std::optional<Dims> dims_of(const CallView& call, std::size_t i) {
  const BroadcastShape shape = shape_of(call.tensor(i));
  if (shape.rank >= 0 && shape.rank != 4) {
    call.reject("rank", call.span_of(i),
                fmt::format("{} has rank {}, expected 4", call.op.params[i].name, shape.rank));
  }
  return shape.dims;
}

// The literal dim; rejects by "size" a symbolic one.
std::int64_t known_size(const CallView& call, std::size_t i, const Scalar& dim) {
  if (const auto size = dim.as_int()) return *size;
  call.reject("size", call.span_of(i),
              fmt::format("{} has the size {} where a number is needed", call.op.params[i].name, print(dim)));
}

// The entry at (i, j) as a scalar: a choice among the rows, within a row among the columns.
Scalar entry(const Matrix& matrix, const Scalar& i, const Scalar& j, DType dtype) {
  const auto chosen = [](const Scalar& index, std::size_t count, const auto& value) {
    Scalar result = value(0);
    for (std::size_t k = 1; k < count; ++k)
      result = select(equal(index, Scalar(static_cast<std::int64_t>(k))), value(k), result);
    return result;
  };
  return chosen(i, matrix.size(), [&](std::size_t row) {
    return chosen(j, matrix[row].size(),
                  [&](std::size_t column) { return float_literal(dtype, matrix[row][column]); });
  });
}

// A temporary with the matrix, so that the sums only read it.
Buffer held(Lowering& lowering, std::string_view name, const Matrix& matrix, DType dtype) {
  const Dims shape = {static_cast<std::int64_t>(matrix.size()), static_cast<std::int64_t>(matrix[0].size())};
  const Buffer buffer = lowering.temporary(name, shape, dtype);
  lowering.map(name, buffer, [&](const Dims& i) { return entry(matrix, i[0], i[1], dtype); });
  return buffer;
}

Tensor tensor_of_matrix(const Matrix& matrix, DType dtype, bool transposed) {
  const auto rows = static_cast<std::int64_t>(matrix.size()),
             columns = static_cast<std::int64_t>(matrix[0].size());
  Tensor result = Tensor::empty(dtype, transposed ? Shape{columns, rows} : Shape{rows, columns});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      result.set_double(transposed ? j * rows + i : i * columns + j,
                        matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
  return result;
}

// --- The transform of kernels.

constexpr Param transform_params[] = {
    {"weight", ParamKind::Tensor, "tensor", "", "kernels (output channels, input channels, size, size)"},
    {"tile_size", ParamKind::Attribute, "int", "", "rows and columns of a tile of the result"}};

struct Sizes {
  std::int64_t tile, kernel, points;
};

Sizes transform_sizes(const CallView& call, const Dims& weight) {
  const std::int64_t tile = tile_size(call), kernel = known_size(call, 0, weight[2]);
  if (prove_different(weight[2], weight[3]) || kernel < 1) {
    call.reject("kernel", call.span_of(0),
                fmt::format("weight has kernels of shape ({}, {}), expected squares", print(weight[2]),
                            print(weight[3])));
  }
  const std::int64_t points = tile + kernel - 1;
  if (points > most_points) {
    call.reject("tile_size", call.span,
                fmt::format("tile_size {} with a kernel of {} needs {} points, expected at most {}", tile,
                            kernel, points, most_points));
  }
  return {tile, kernel, points};
}

Type infer_transform(const CallView& call) {
  require_float(call, 0);
  tile_size(call);
  const std::optional<Dims> weight = dims_of(call, 0);
  const std::optional<DType> dtype = call.tensor(0).dtype;
  if (!weight) return TensorType{dtype, std::nullopt, 4};
  const Sizes sizes = transform_sizes(call, *weight);
  return TensorType{dtype, Dims{sizes.points, sizes.points, (*weight)[0], (*weight)[1]}, 4};
}

Value evaluate_transform(const EvalCall& c) {
  const Tensor& weight = c.in(0);
  const Shape& from = weight.shape();
  const Shape shape = result_shape(c);
  const std::int64_t r = from[2];
  const Transforms t(tile_size(c.call), r);
  Tensor result = Tensor::empty(weight.dtype(), shape);
  std::int64_t at = 0;
  windows::for_each_index(shape, [&](const Shape& i) {
    double total = 0;
    for (std::int64_t a = 0; a < r; ++a)
      for (std::int64_t b = 0; b < r; ++b)
        total += t.g[static_cast<std::size_t>(i[0])][static_cast<std::size_t>(a)] *
                 t.g[static_cast<std::size_t>(i[1])][static_cast<std::size_t>(b)] *
                 weight.get_double(((i[2] * from[1] + i[3]) * r + a) * r + b);
    result.set_double(at++, total);
  });
  return Value(result);
}

PrimFunc lower_transform(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer weight = lowering.input(0), result = lowering.output();
  const Sizes sizes = transform_sizes(c.call, weight.shape());
  const DType wide = compute_dtype(result.dtype());
  const Buffer g = held(lowering, "G", Transforms(sizes.tile, sizes.kernel).g, wide);
  const Buffer total = lowering.temporary("total", result.shape(), wide);
  lowering.reduce("transform", total, result.shape(), {sizes.kernel, sizes.kernel},
                  [&](const Dims& s, const Dims& k) {
                    return lowering.loops().load(g, {s[0], k[0]}) * lowering.loops().load(g, {s[1], k[1]}) *
                           lowering.load_as(wide, weight, {s[2], s[3], k[0], k[1]});
                  });
  lowering.map("round", result, [&](const Dims& i) { return lowering.loops().load(total, i); });
  return lowering.finish();
}

GraphValue product_of(const GraphValue& a, const GraphValue& b) {
  return call_op("matmul", {a, b}, {{"out_dtype", Attribute()}});
}
GraphValue permuted(const GraphValue& x, const std::vector<int>& axes) {
  return call_op("permute_dims", {x}, {{"axes", axes_attribute(axes)}});
}

Partials vjp_transform(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent();
  const Sizes sizes = transform_sizes(c.call, rule.dims(0));
  const Transforms t(sizes.tile, sizes.kernel);
  const DType dtype = g.type().dtype.value_or(DType::Float32);
  const auto matrix = [&](bool transposed) {
    return GraphValue(constant(tensor_of_matrix(t.g, dtype, transposed), c.builder.origin()), c.builder);
  };
  return {product_of(product_of(matrix(true), permuted(g, {2, 3, 0, 1})), matrix(false)).expr()};
}

// --- The convolution.

constexpr Param convolution_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input (batch, channels, rows, columns)"},
    {"weight", ParamKind::Tensor, "tensor", "",
     "transformed kernels (points, points, output channels, input channels)"},
    {"tile_size", ParamKind::Attribute, "int", "", "rows and columns of a tile of the result"},
    {"strides", ParamKind::Attribute, "int or list[int]", "[1, 1]", "only 1"},
    {"padding", ParamKind::Attribute, "int or list[int]", "[0, 0, 0, 0]",
     "zeros around the data: one number, two, or top, left, bottom, right"},
    {"dilation", ParamKind::Attribute, "int or list[int]", "[1, 1]", "only 1"}};

// The sizes of one call; tiles may reach beyond the result.
struct Plan {
  Sizes sizes;
  std::vector<windows::Axis> axes;
  Dims result, tiles;  // rows and columns
};

Plan plan_of(const CallView& call, const Dims& data, const Dims& weight) {
  const std::int64_t tile = tile_size(call), points = known_size(call, 1, weight[0]);
  const std::int64_t kernel = points - tile + 1;
  if (prove_different(weight[0], weight[1]) || kernel < 1 || points > most_points) {
    call.reject("weight", call.span_of(1),
                fmt::format("weight has {} by {} points, which are no transformed kernels for tiles of {}",
                            print(weight[0]), print(weight[1]), tile));
  }
  Plan plan{{tile, kernel, points}, windows::axes(call, 2), {}, {}};
  for (std::size_t d = 0; d < 2; ++d) {
    if (plan.axes[d].stride != 1 || plan.axes[d].dilation != 1)
      call.reject("strides", call.span, "strides and dilation are not all 1, as minimal filtering needs");
    plan.result.push_back(plan.axes[d].count(data[2 + d], Scalar(kernel)));
    if (plan.result.back().as_int().value_or(1) < 1)
      call.reject("size", call.span_of(0),
                  fmt::format("dimension {} of data is {}, less than the kernel of {}", 2 + d,
                              print(data[2 + d]), kernel));
    plan.tiles.push_back(canonical(floor_div(plan.result.back() + Scalar(tile - 1), Scalar(tile))));
  }
  return plan;
}

Type infer_convolution(const CallView& call) {
  require_float(call, 0);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  tile_size(call);
  const std::optional<Dims> data = dims_of(call, 0), weight = dims_of(call, 1);
  if (!data || !weight) return TensorType{dtype, std::nullopt, 4};
  if (prove_different((*data)[1], (*weight)[3])) {
    call.reject(
        "channels", call.span,
        fmt::format("data has {} channels, the kernels have {}", print((*data)[1]), print((*weight)[3])));
  }
  const Plan plan = plan_of(call, *data, *weight);
  return TensorType{dtype, Dims{(*data)[0], (*weight)[2], plan.result[0], plan.result[1]}, 4};
}

Value evaluate_convolution(const EvalCall& c) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  const Shape &x = data.shape(), &w = weight.shape();
  const Shape y = result_shape(c);
  const std::int64_t n = w[0], m = tile_size(c.call);
  const Transforms t(m, n - m + 1);
  const std::vector<windows::Axis> axes = windows::axes(c.call, 2);
  const auto at = [](const Matrix& matrix, std::int64_t i, std::int64_t j) {
    return matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  };
  HeldVector<double> totals(element_count(y), "the sums of a convolution");
  const Shape tiles = {y[0], w[2], (y[2] + m - 1) / m, (y[3] + m - 1) / m};
  Pace pace;
  windows::for_each_index(tiles, [&](const Shape& tile) {
    std::vector<double> products(static_cast<std::size_t>(n * n));
    for (std::int64_t channel = 0; channel < x[1]; ++channel, pace(n * n * n * n)) {
      windows::for_each_index({n, n}, [&](const Shape& e) {
        double seen = 0;
        windows::for_each_index({n, n}, [&](const Shape& k) {
          const std::int64_t row = tile[2] * m + k[0] - axes[0].before,
                             column = tile[3] * m + k[1] - axes[1].before;
          if (row < 0 || column < 0 || row >= x[2] || column >= x[3]) return;
          seen += at(t.bt, e[0], k[0]) * at(t.bt, e[1], k[1]) *
                  data.get_double(((tile[0] * x[1] + channel) * x[2] + row) * x[3] + column);
        });
        products[static_cast<std::size_t>(e[0] * n + e[1])] +=
            seen * weight.get_double(((e[0] * n + e[1]) * w[2] + tile[1]) * w[3] + channel);
      });
    }
    windows::for_each_index({m, m}, [&](const Shape& p) {
      const std::int64_t row = tile[2] * m + p[0], column = tile[3] * m + p[1];
      if (row >= y[2] || column >= y[3]) return;
      double& total =
          totals[static_cast<std::size_t>(((tile[0] * y[1] + tile[1]) * y[2] + row) * y[3] + column)];
      windows::for_each_index({n, n}, [&](const Shape& e) {
        total +=
            at(t.a, e[0], p[0]) * at(t.a, e[1], p[1]) * products[static_cast<std::size_t>(e[0] * n + e[1])];
      });
    });
  });
  Tensor result = Tensor::empty(DType::Float64, y);
  std::copy(totals.begin(), totals.end(), result.mutable_view<double>().data());
  return convert_tensor(result, data.dtype());
}

PrimFunc lower_convolution(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0), weight = lowering.input(1), result = lowering.output();
  const Dims &x = data.shape(), &w = weight.shape();
  const Plan plan = plan_of(c.call, x, w);
  const Scalar n(plan.sizes.points), m(plan.sizes.tile);
  lowering.require_equal(w[1], n, "conv2d_winograd_without_weight_transform: the points differ");
  lowering.require_equal(x[1], w[3], "conv2d_winograd_without_weight_transform: channels differ");
  for (const Scalar& size : plan.result) {
    if (!size.as_int())
      lowering.require(size > Scalar(0),
                       "conv2d_winograd_without_weight_transform: data is less than the kernel");
  }
  // Sums of terms of both signs: in float64, also for narrower data.
  const DType wide = DType::Float64;
  const Transforms t(plan.sizes.tile, plan.sizes.kernel);
  const Buffer bt = held(lowering, "B", t.bt, wide), a = held(lowering, "A", t.a, wide);
  const auto load = [&](const Buffer& buffer, const Dims& index) {
    return lowering.loops().load(buffer, index);
  };
  const Buffer seen = lowering.temporary("seen", {x[0], x[1], plan.tiles[0], plan.tiles[1], n, n}, wide);
  lowering.reduce("input_transform", seen, seen.shape(), {n, n}, [&](const Dims& s, const Dims& k) {
    std::vector<Scalar> conditions;
    Dims index = {s[0], s[1]};
    for (std::size_t d = 0; d < 2; ++d) {
      const Scalar q = s[2 + d] * m + k[d] - Scalar(plan.axes[d].before);
      conditions.push_back(compare(CompareOp::Ge, q, Scalar(0)));
      conditions.push_back(q < x[2 + d]);
      index.push_back(q);
    }
    return windows::guarded(windows::all_of(conditions), load(bt, {s[4], k[0]}) * load(bt, {s[5], k[1]}) *
                                                             lowering.load_as(wide, data, index));
  });
  const Buffer products =
      lowering.temporary("products", {x[0], w[2], plan.tiles[0], plan.tiles[1], n, n}, wide);
  lowering.reduce("products", products, products.shape(), {x[1]}, [&](const Dims& s, const Dims& k) {
    return load(seen, {s[0], k[0], s[2], s[3], s[4], s[5]}) *
           lowering.load_as(wide, weight, {s[4], s[5], s[1], k[0]});
  });
  const Buffer total = lowering.temporary("total", result.shape(), wide);
  lowering.reduce("output_transform", total, result.shape(), {n, n}, [&](const Dims& s, const Dims& e) {
    return load(a, {e[0], floor_mod(s[2], m)}) * load(a, {e[1], floor_mod(s[3], m)}) *
           load(products, {s[0], s[1], floor_div(s[2], m), floor_div(s[3], m), e[0], e[1]});
  });
  lowering.map("round", result, [&](const Dims& i) { return load(total, i); });
  return lowering.finish();
}

// Kernels (n * n, 1, rows, rows) of which each is the product of two rows of the matrix.
Tensor outer_kernels(const Matrix& matrix, DType dtype) {
  const auto n = static_cast<std::int64_t>(matrix.size()), size = static_cast<std::int64_t>(matrix[0].size());
  Tensor result = Tensor::empty(dtype, {n * n, 1, size, size});
  std::int64_t at = 0;
  windows::for_each_index({n, n, size, size}, [&](const Shape& i) {
    result.set_double(at++, matrix[static_cast<std::size_t>(i[0])][static_cast<std::size_t>(i[2])] *
                                matrix[static_cast<std::size_t>(i[1])][static_cast<std::size_t>(i[3])]);
  });
  return result;
}

// Both transforms are convolutions of every channel with fixed kernels and the tile size as stride; between
// them stands, for every pair of points, a product of matrices.
Partials vjp_convolution(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims x = rule.dims(0), w = rule.dims(1);
  const Plan plan = plan_of(c.call, x, w);
  const Transforms t(plan.sizes.tile, plan.sizes.kernel);
  const std::int64_t m = plan.sizes.tile, pairs = plan.sizes.points * plan.sizes.points;
  for (const Scalar& size : plan.result) {
    if (!size.as_int())
      c.call.reject("gradient", c.call.span, "the gradient needs the rows and columns of data");
  }
  const GraphValue g = rule.cotangent();
  const DType dtype = g.type().dtype.value_or(DType::Float32);
  const auto fixed = [&](const Matrix& matrix) {
    return GraphValue(constant(outer_kernels(matrix, dtype), c.builder.origin()), c.builder);
  };
  // What completes the last tile, behind the data and behind the result.
  windows::Sizes data_padding, result_padding = {0, 0};
  for (std::size_t d = 0; d < 2; ++d) data_padding.push_back(plan.axes[d].before);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t beyond = *plan.tiles[d].as_int() * m - *plan.result[d].as_int();
    data_padding.push_back(plan.axes[d].after + beyond);
    result_padding.push_back(beyond);
  }
  const auto attributes = [&](const windows::Sizes& padding) {
    return Attributes{{"strides", attribute_of({m, m})}, {"padding", attribute_of(padding)}};
  };
  const Scalar count = canonical(x[0] * plan.tiles[0] * plan.tiles[1]);
  const auto channels = [&](const Scalar& n, const Scalar& each) { return canonical(n * each); };
  // (batch * channels, pairs, rows, columns) of tiles as (pairs, channels, batch * tiles).
  const auto by_pair = [&](const GraphValue& tiles, const Scalar& each) {
    const GraphValue split =
        reshaped(tiles, {x[0], each, Scalar(pairs), canonical(plan.tiles[0] * plan.tiles[1])});
    return reshaped(permuted(split, {2, 1, 0, 3}), {Scalar(pairs), each, count});
  };
  const GraphValue upstream =
      call_op("nn.conv2d",
              {reshaped(g, {channels(x[0], w[2]), Scalar(1), plan.result[0], plan.result[1]}), fixed(t.a)},
              attributes(result_padding));
  const GraphValue flows = by_pair(upstream, w[2]);
  flows.leaf();
  Partials partials(2);
  if (rule.differentiable(0)) {
    const GraphValue kernels = permuted(reshaped(rule.argument(1), {Scalar(pairs), w[2], w[3]}), {0, 2, 1});
    const GraphValue back = product_of(kernels, flows);  // (pairs, input channels, batch * tiles)
    const GraphValue split =
        reshaped(back, {Scalar(pairs), w[3], x[0], canonical(plan.tiles[0] * plan.tiles[1])});
    const GraphValue tiles = reshaped(permuted(split, {2, 1, 0, 3}),
                                      {channels(x[0], x[1]), Scalar(pairs), plan.tiles[0], plan.tiles[1]});
    const GraphValue shape = shape_value({channels(x[0], x[1]), Scalar(1), x[2], x[3]}, c.builder);
    partials[0] =
        reshaped(call_op("grad.conv_data", {tiles, fixed(t.bt), shape}, attributes(data_padding)), x).expr();
  }
  if (rule.differentiable(1)) {
    const GraphValue seen = call_op(
        "nn.conv2d", {reshaped(rule.argument(0), {channels(x[0], x[1]), Scalar(1), x[2], x[3]}), fixed(t.bt)},
        attributes(data_padding));
    const GraphValue product = product_of(flows, permuted(by_pair(seen, x[1]), {0, 2, 1}));
    partials[1] = reshaped(product, w).expr();
  }
  return partials;
}

constexpr Sample transform_samples[] = {
    {"[[[[1.0, 2.0], [4.0, 8.0]]]], tile_size=1", "[[[[1.0]], [[2.0]]], [[[4.0]], [[8.0]]]]"},
    {"rand((2, 3, 3, 3), \"float64\"), tile_size=2"},
    {"rand((3, 1, 3, 3), \"float64\"), tile_size=4"},
    {"rand((1, 2, 2, 2), \"float32\"), tile_size=3"},
    {"rand((2, 1, 1, 1), \"float64\"), 2"},
    {"rand((0, 2, 3, 3), \"float32\"), 2"},
};
constexpr Reject transform_rejects[] = {
    {"conv2d_winograd_weight_transform.tile_size", "rand((1, 1, 3, 3), \"float32\"), tile_size=0",
     "expected 1 to 9"},
    {"conv2d_winograd_weight_transform.kernel", "rand((1, 1, 3, 2), \"float32\"), tile_size=2",
     "expected squares"},
    {"conv2d_winograd_weight_transform.rank", "rand((3, 3), \"float32\"), tile_size=2", "expected 4"},
};
constexpr Sample convolution_samples[] = {
    {"rand((1, 2, 6, 6), \"float64\"), rand((4, 4, 3, 2), \"float64\"), tile_size=2"},
    {"rand((2, 1, 5, 6), \"float64\"), rand((4, 4, 2, 1), \"float64\"), tile_size=2, padding=1"},
    {"rand((1, 2, 5, 7), \"float64\"), rand((6, 6, 1, 2), \"float64\"), 4, padding=[1, 0, 2, 1]"},
    {"rand((1, 1, 4, 4), \"float32\"), rand((4, 4, 1, 1), \"float32\"), 3"},
    {"rand((0, 2, 4, 4), \"float32\"), rand((4, 4, 3, 2), \"float32\"), 2"},
};
constexpr Reject convolution_rejects[] = {
    {"conv2d_winograd_without_weight_transform.strides",
     "rand((1, 2, 6, 6), \"float32\"), rand((4, 4, 3, 2), \"float32\"), tile_size=2, strides=2", "not all 1"},
    {"conv2d_winograd_without_weight_transform.channels",
     "rand((1, 2, 6, 6), \"float32\"), rand((4, 4, 3, 3), \"float32\"), tile_size=2", "2 channels"},
    {"conv2d_winograd_without_weight_transform.weight",
     "rand((1, 2, 6, 6), \"float32\"), rand((4, 4, 3, 2), \"float32\"), tile_size=5", "4 by 4 points"},
    {"conv2d_winograd_without_weight_transform.size",
     "rand((1, 2, 2, 6), \"float32\"), rand((4, 4, 3, 2), \"float32\"), tile_size=2", "less than the kernel"},
};

constexpr std::string_view transform_aliases[] = {"nn.contrib_conv2d_winograd_weight_transform"};
constexpr std::string_view convolution_aliases[] = {"nn.contrib_conv2d_winograd_without_weight_transform"};

}  // namespace

extern const Op op_nn_conv2d_winograd_weight_transform{
    .name = "nn.conv2d_winograd_weight_transform",
    .summary = "Kernels as minimal filtering multiplies them.",
    .params = transform_params,
    .infer = infer_transform,
    .eval = evaluate_transform,
    .lower = lower_transform,
    .vjp = vjp_transform,
    .gradient_doc = "dweight = G^T g G for every pair of channels",
    .agreement = Agreement::Composite,
    .samples = transform_samples,
    .rejects = transform_rejects,
    .aliases = transform_aliases,
    .doc =
        "G weight G^T for every pair of channels, where row e of G has the powers of point e, divided by the "
        "product of its distances to the other points; the points are 0, 1, -1, 2, -2, 1/2, -1/2, 3, -3, and "
        "infinity as the last. TVM has no such operator today."};

extern const Op op_nn_conv2d_winograd_without_weight_transform{
    .name = "nn.conv2d_winograd_without_weight_transform",
    .summary = "Convolution by minimal filtering with transformed kernels.",
    .params = convolution_params,
    .infer = infer_convolution,
    .eval = evaluate_convolution,
    .lower = lower_convolution,
    .vjp = vjp_convolution,
    .gradient_doc =
        "through the products for each pair of points, between convolutions with the fixed kernels of the "
        "two "
        "transforms",
    .agreement = Agreement::Composite,
    .samples = convolution_samples,
    .rejects = convolution_rejects,
    .aliases = convolution_aliases,
    .doc =
        "With the result of nn.conv2d_winograd_weight_transform it is nn.conv2d, with strides and dilation "
        "1. "
        "Sums are in float64. TVM has no such operator today."};

}  // namespace relish::ops_nn_winograd
