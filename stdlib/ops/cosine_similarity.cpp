// The cosine of the angle between vectors.
#include "stdlib/families/elementwise/iteration.h"
#include "stdlib/families/reductions/reduction.h"

namespace relish::ops_cosine_similarity {
namespace {

constexpr Param params[] = {
    {"x1", ParamKind::Tensor, "tensor", "", "first vectors"},
    {"x2", ParamKind::Tensor, "tensor", "", "second vectors; the shapes broadcast"},
    {"axis", ParamKind::Attribute, "int", "1", "dimension of the broadcast shape along which a vector lies"},
    {"eps", ParamKind::Attribute, "float", "1e-08", "least length of a vector"}};

double eps_of(const CallView& call) { return *call.attribute("eps").as<double>(); }
int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

Type infer(const CallView& call) {
  require_float(call, 0);
  require_float(call, 1);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  if (!(eps_of(call) >= 0))
    call.reject("eps", call.span, fmt::format("eps is {}, expected a number of at least 0", eps_of(call)));
  BroadcastShape shape = broadcast(call, call.tensor(0), call.tensor(1));
  if (shape.rank < 0) return TensorType{dtype, std::nullopt, -1};
  const int axis = axis_of(call, shape.rank);
  for (std::size_t i = 0; shape.dims && i < 2; ++i) {
    const BroadcastShape own = shape_of(call.tensor(i));
    const int at = axis - (shape.rank - own.rank);
    if (at >= 0 && provably_equal(Dims{(*own.dims)[static_cast<std::size_t>(at)]},
                                  Dims{(*shape.dims)[static_cast<std::size_t>(axis)]}))
      continue;
    call.reject(
        "size", call.span_of(i),
        fmt::format("{} of shape {} has other vectors than {} along axis {}: the vectors themselves do not "
                    "broadcast",
                    params[i].name, describe_dims(*own.dims), params[1 - i].name, axis));
  }
  if (shape.dims) shape.dims->erase(shape.dims->begin() + axis);
  return tensor_of({shape.dims, shape.rank - 1}, dtype);
}

// Products of float32 fit float64, so no length over- or underflows.
Value evaluate(const EvalCall& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  const Shape shape = broadcast_values(c.call, a.shape(), b.shape());
  const int axis = axis_of(c.call, static_cast<int>(shape.size()));
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& own = c.in(i).shape();
    const std::size_t at = static_cast<std::size_t>(axis) + own.size() - shape.size();
    if (at < own.size() && own[at] == shape[static_cast<std::size_t>(axis)]) continue;
    fail(ErrorClass::Runtime, c.call.span, "cosine_similarity.size",
         fmt::format("cosine_similarity: {} has shape ({}), whose vectors along axis {} are not those of {}",
                     params[i].name, fmt::join(own, ", "), axis, params[1 - i].name));
  }
  Tensor result = Tensor::empty(a.dtype(), reduction::result_shape(shape, {axis}, false));
  struct Sums {
    double product = 0, first = 0, second = 0;
  };
  HeldVector<Sums> sums(static_cast<std::size_t>(result.size()), "the sums of cosines", Sums{});
  visit_float(a.dtype(), [&](auto element) {
    using T = decltype(element);
    const T* x = a.view<T>().data();
    const T* y = b.view<T>().data();
    for_each_row<3>(shape,
                    {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape),
                     reduction::result_strides(shape, {axis})},
                    [&](const auto& offsets, const auto& strides, std::int64_t count) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        const auto p = static_cast<double>(to_sum(x[offsets[0] + i * strides[0]]));
                        const auto q = static_cast<double>(to_sum(y[offsets[1] + i * strides[1]]));
                        Sums& sum = sums[static_cast<std::size_t>(offsets[2] + i * strides[2])];
                        sum.product += p * q;
                        sum.first += p * p;
                        sum.second += q * q;
                      }
                    });
    const double eps = eps_of(c.call);
    T* target = result.mutable_view<T>().data();
    for (const Sums& sum : sums)
      *target++ = T(sum.product /
                    (maximum_ieee(std::sqrt(sum.first), eps) * maximum_ieee(std::sqrt(sum.second), eps)));
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  const BroadcastShape full = broadcast(c.call, c.call.tensor(0), c.call.tensor(1));
  const int axis = axis_of(c.call, full.rank);
  const reduction::ReducedLoops loops(*full.dims, {axis}, false);
  constexpr DType wide = DType::Float64;
  const auto element = [&](const Buffer& x, const Dims& s, const Dims& r) {
    return lowering.load_as(wide, x, lowering.broadcast_index(x, *full.dims, loops.input_index(s, r)));
  };
  const auto sum = [&](std::string_view name, const Buffer& x, const Buffer& y) {
    const Buffer total = lowering.temporary(name, loops.spatial, wide);
    lowering.reduce(name, total, loops.spatial, loops.reduce,
                    [&](const Dims& s, const Dims& r) { return element(x, s, r) * element(y, s, r); });
    return total;
  };
  const Buffer product = sum("product", a, b), first = sum("first", a, a), second = sum("second", b, b);
  const Scalar eps = float_literal(wide, eps_of(c.call));
  lowering.map("cosine", result, [&](const Dims& i) {
    const auto size = [&](const Buffer& squares) {
      return maximum_ieee(sqrt(lowering.loops().load(squares, i)), eps);
    };
    return lowering.loops().load(product, i) / (size(first) * size(second));
  });
  return lowering.finish();
}

// With u = x / max(|x|, eps): dx1 = g * (u2 - share * y * u1) / max(|x1|, eps), where share is 1, and 0 where
// eps is the length.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims[] = {rule.dims(0), rule.dims(1)};
  const int rank = static_cast<int>(std::max(dims[0].size(), dims[1].size()));
  const std::int64_t axis = axis_of(c.call, rank);
  const auto widened = [&](const GraphValue& x) {
    return call_op("expand_dims", {x}, {{"axis", axes_attribute({static_cast<int>(axis)})}});
  };
  struct Side {
    GraphValue unit, length, share;
  };
  const auto side = [&](std::size_t i) {
    GraphValue x = rule.argument(i);
    if (static_cast<int>(dims[i].size()) < rank) {
      Dims shape(static_cast<std::size_t>(rank) - dims[i].size(), Scalar(1));
      shape.insert(shape.end(), dims[i].begin(), dims[i].end());
      x = reshaped(x, shape);
      x.leaf();
    }
    const GraphValue size =
        call_op("norm", {x}, {{"axis", axes_attribute({static_cast<int>(axis)})}, {"keepdims", true}});
    size.leaf();
    const GraphValue eps = constant_like(x, eps_of(c.call));
    const GraphValue length = call_op("maximum", {size, eps});
    length.leaf();
    const GraphValue unit = x / length;
    unit.leaf();
    return Side{unit, length,
                where(call_op("greater", {size, eps}), constant_like(x, 1), constant_like(x, 0))};
  };
  const Side sides[] = {side(0), side(1)};
  const GraphValue g = widened(rule.cotangent()), y = widened(rule.result());
  g.leaf();
  y.leaf();
  Partials partials(2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Side &own = sides[i], &other = sides[1 - i];
    partials[i] = rule.fit(g * ((other.unit - own.share * y * own.unit) / own.length), i).expr();
  }
  return partials;
}

constexpr Sample samples[] = {
    {"[[3.0, 4.0], [1.0, 0.0]], [[4.0, 3.0], [0.0, 2.0]]", "[0.96, 0.0]"},
    {"[3.0, 4.0], [[6.0, 8.0], [-3.0, -4.0]]", "[1.0, -1.0]"},
    {"R.const([[3e-5, 4e-5]], \"float32\"), R.const([[4e20, 3e20]], \"float32\"), eps=0", "[0.96]", false},
    {"rand((2, 3, 4), \"float64\") + 0.1, rand((2, 3, 4), \"float64\") + 0.1, axis=-1"},
    {"rand((2, 1, 3), \"float64\") + 0.1, rand((4, 3), \"float64\") + 0.1, axis=2"},
    {"rand((5,), \"float32\") + 0.1, rand((5,), \"float32\") + 0.1, axis=0, eps=100.0"},
    {"rand((0, 3), \"float32\"), rand((1, 3), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"cosine_similarity.axis", "rand((3,), \"float32\"), rand((3,), \"float32\")", "out of range"},
    {"cosine_similarity.shape", "rand((2, 3), \"float32\"), rand((2, 4), \"float32\")", "do not broadcast"},
    {"cosine_similarity.size", "rand((2, 1), \"float32\"), rand((2, 3), \"float32\")", "do not broadcast"},
    {"cosine_similarity.eps", "rand((2, 3), \"float32\"), rand((2, 3), \"float32\"), eps=-1.0", "eps is -1"},
    {"cosine_similarity.dtype", "R.const([[1, 2]], \"int32\"), R.const([[1, 2]], \"int32\")",
     "expected a floating dtype"},
    {"cosine_similarity.dtype", "rand((2, 3), \"float32\"), rand((2, 3), \"float64\")", "expected the same"},
};
constexpr std::string_view aliases[] = {"nn.cosine_similarity"};

}  // namespace

extern const Op op_cosine_similarity{
    .name = "cosine_similarity",
    .summary = "Cosine of the angle between vectors: sum(x1 * x2) / (|x1| * |x2|).",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc =
        "dx1 = g * (u2 - y * u1) / |x1|, dx2 = g * (u1 - y * u2) / |x2|, u = x / |x|; the second "
        "term is 0 where eps is the length",
    .agreement = Agreement::Composite,
    .samples = samples,
    .rejects = rejects,
    .aliases = aliases,
    .doc =
        "Floating dtypes only. A length below eps counts as eps, so that of a vector of zeros the result is 0. "
        "Of all pairs of the rows of x and y: R.cosine_similarity(R.expand_dims(x, 1), R.expand_dims(y, 0), "
        "axis=2)."};

}  // namespace relish::ops_cosine_similarity
