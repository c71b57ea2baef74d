// Slices of a tensor: with bounds in the text (strided_slice), with the bounds of another tensor
// (slice_like).
#include "ir/calls/fault.h"
#include "stdlib/families/shapes/movement.h"

#include "ir/printer/printer.h"

namespace relish::ops_strided_slice {
namespace {

constexpr Param params[] = {
    {"x", ParamKind::Tensor, "tensor", "", "input"},
    {"axes", ParamKind::Any, "tuple of ints", "", "the dimensions that are sliced"},
    {"begin", ParamKind::Any, "tuple of ints", "", "first index of each slice"},
    {"end", ParamKind::Any, "tuple of ints", "", "index behind each slice"},
    {"strides", ParamKind::Any, "tuple of ints", "None",
     "step of each slice, not 0; negative ones reverse; None is 1"},
    {"assume_inbound", ParamKind::Attribute, "bool", "False",
     "promises that begin and end lie within their dimensions, so that symbolic ones need no clamping"}};

// The scalars of a tuple; nothing when they are not written in the call.
std::optional<std::vector<Scalar>> scalars_of(const CallView& call, std::size_t i) {
  const Expr& arg = call.args[i];
  if (const auto* shape = arg.as<ShapeLiteral>()) return shape->dims;
  std::vector<Scalar> values;
  if (const auto* literal = arg.as<TupleExpr>()) {
    bool known = true;
    for (const Expr& field : literal->fields) {
      const auto* scalar = field.as<ScalarValueExpr>();
      const auto* type = field.type().as<ScalarType>();
      if (!type || !is_int(type->dtype)) {
        call.reject("bounds", call.span_of(i),
                    fmt::format("{} has a field of type {}, expected integers", call.op.params[i].name,
                                print(field.type())));
      }
      known = known && scalar;
      if (scalar) values.push_back(cast(DType::Int64, scalar->value));
    }
    return known ? std::optional(values) : std::nullopt;
  }
  const Type& type = arg.type();
  if (type.tuple() || type.as<ShapeType>() || type.as<AnyType>()) return std::nullopt;
  call.reject("bounds", call.span_of(i),
              fmt::format("{} is {}, expected a tuple of integers", call.op.params[i].name, print(type)));
}

struct AxisSlice {
  int axis;
  Scalar begin, end;
  std::int64_t step;
};

// The slices as written; nothing when some of them are not known.
std::optional<std::vector<AxisSlice>> slices_of(const CallView& call, int rank) {
  const auto axes = scalars_of(call, 1), begin = scalars_of(call, 2), end = scalars_of(call, 3);
  const bool stepped = call.has(4);
  const auto strides = stepped ? scalars_of(call, 4) : std::vector<Scalar>{};
  if (!axes || !begin || !end || !strides) return std::nullopt;
  const std::size_t count = axes->size();
  if (begin->size() != count || end->size() != count || (stepped && strides->size() != count)) {
    call.reject(
        "length", call.span,
        fmt::format("axes lists {} dimensions, begin {}, end {}{}, expected the same", count, begin->size(),
                    end->size(), stepped ? fmt::format(" and strides {}", strides->size()) : ""));
  }
  std::vector<AxisSlice> slices;
  std::vector<int> seen;
  for (std::size_t k = 0; k < count; ++k) {
    const auto axis = canonical((*axes)[k]).as_int();
    if (!axis) call.reject("axes", call.span_of(1), "an axis is not a constant");
    const int normal = normal_axis(call, *axis, rank);
    if (contains(seen, normal))
      call.reject("axes", call.span_of(1), fmt::format("axis {} is given twice", *axis));
    seen.push_back(normal);
    std::int64_t step = 1;
    if (stepped) {
      const auto literal = canonical((*strides)[k]).as_int();
      if (!literal || *literal == 0)
        call.reject("strides", call.span_of(4), "a stride is not a constant other than 0");
      step = *literal;
    }
    slices.push_back({normal, canonical((*begin)[k]), canonical((*end)[k]), step});
  }
  return slices;
}

bool inbound(const CallView& call) { return *call.attribute("assume_inbound").as<bool>(); }

// Refuses bounds that assume_inbound promises to be within a dimension, and that are not.
void require_inbound(const CallView& call, const AxisSlice& s, const Scalar& dim) {
  const auto extent = dim.as_int(), begin = s.begin.as_int(), end = s.end.as_int();
  if (!extent || !begin || !end) return;
  const Slice slice = slice_of(*extent, *begin, *end, s.step, true);
  const std::int64_t last = slice.begin + (slice.count - 1) * s.step;
  const auto inside = [&](std::int64_t index) { return index >= 0 && index < *extent; };
  if (slice.count > 0 && !(inside(slice.begin) && inside(last))) {
    call.reject("inbound", call.span,
                fmt::format("the slice from {} to {} of dimension {} leaves its extent {}, which "
                            "assume_inbound=True promises it does not",
                            *begin, *end, s.axis, *extent));
  }
}

Type infer(const CallView& call) {
  const TensorType& x = call.tensor(0);
  const BroadcastShape shape = shape_of(x);
  if (shape.rank < 0) return TensorType{x.dtype, std::nullopt, -1};
  const auto slices = slices_of(call, shape.rank);
  if (!slices || !shape.dims) return TensorType{x.dtype, std::nullopt, shape.rank};
  Dims dims = *shape.dims;
  for (const AxisSlice& s : *slices) {
    Scalar& dim = dims[static_cast<std::size_t>(s.axis)];
    if (inbound(call)) require_inbound(call, s, dim);
    dim = slice_of(dim, s.begin, s.end, s.step, inbound(call)).count;
  }
  return TensorType{x.dtype, std::move(dims), shape.rank};
}

Value evaluate(const EvalCall& c) {
  const Tensor& x = c.in(0);
  std::vector<Slice> whole;
  for (std::int64_t extent : x.shape()) whole.push_back({0, 1, extent});
  const auto slices = slices_of(c.call, x.rank());
  RELISH_CHECK(slices.has_value(), "an evaluation knows the numbers");
  Shape shape = x.shape();
  for (const AxisSlice& s : *slices) {
    const auto axis = static_cast<std::size_t>(s.axis);
    whole[axis] = slice_of(x.shape()[axis], *s.begin.as_int(), *s.end.as_int(), s.step, inbound(c.call));
    shape[axis] = whole[axis].count;
  }
  return gathered(x, shape, [&](Shape index) {
    for (std::size_t d = 0; d < index.size(); ++d) {
      index[d] = whole[d].begin + index[d] * whole[d].step;
      // What assume_inbound promised of a size that only the run shows.
      if (index[d] < 0 || index[d] >= x.shape()[d]) {
        fail_fault({FaultKind::IndexOutOfRange,
                    std::string(c.call.op.params[0].name),
                    {static_cast<std::int64_t>(d), index[d], x.shape()[d]}},
                   c.call.span);
      }
    }
    return position_of(x.shape(), index);
  });
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer x = lowering.input(0);
  const Buffer result = lowering.output();
  const auto slices = slices_of(c.call, x.rank());
  if (!slices) c.call.reject("lowering", c.call.span, "lowering needs the bounds in the call");
  lowering.map("slice", result, [&](const Dims& i) {
    Dims index = i;
    for (const AxisSlice& s : *slices) {
      Scalar& at = index[static_cast<std::size_t>(s.axis)];
      const SymbolicSlice slice =
          slice_of(x.shape()[static_cast<std::size_t>(s.axis)], s.begin, s.end, s.step, inbound(c.call));
      if (slice.step != 1) at = at * Scalar(slice.step);
      if (slice.begin.as_int() != 0) at = slice.begin + at;
    }
    return lowering.loops().load(x, index);
  });
  return lowering.finish();
}

// g goes into zeros, one dimension after the other.
Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0);
  const auto slices = slices_of(c.call, static_cast<int>(dims.size()));
  const std::optional<Dims> sliced_dims = known_dims(rule.result().type());
  if (!slices || !sliced_dims)
    c.call.reject("gradient", c.call.span, "the gradient needs the bounds in the call");
  GraphValue partial = rule.cotangent();
  Dims now = *sliced_dims;
  for (const AxisSlice& s : *slices) {
    now = replaced_dim(now, s.axis, dims[static_cast<std::size_t>(s.axis)]);
    partial = padded(partial, now, s.axis, s.begin, s.end, s.step);
  }
  Partials partials(c.call.args.size());
  partials[0] = partial.expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[1.0, 2.0, 3.0, 4.0], (0,), (1,), (3,)", "[2.0, 3.0]"},
    {"[1.0, 2.0, 3.0, 4.0, 5.0], (0,), (-1,), (-6,), (-2,)", "[5.0, 3.0, 1.0]"},
    {"rand((4, 5), \"float64\"), (0, -1), (1, 0), (4, 5), (2, 3)"},
    {"rand((4, 5), \"float64\"), (1,), (-3,), (100,)"},
    {"rand((3, 6), \"float32\"), (1,), (4,), (0,), (-1,)"},
    {"rand((2, 3), \"float32\"), (0,), (1,), (1,)"},
    {"rand((0, 3), \"float32\"), (0,), (0,), (2,)"},
    {"rand((2, 3), \"float32\"), (1,), (0,), (2147483647,), (2,)"},
    {"rand((5, 2), \"float64\"), (0,), (1,), (4,), assume_inbound=True"},
    {"rand((2, 2), \"float32\"), (), (), ()"},
};
constexpr Reject rejects[] = {
    {"strided_slice.axis", "rand((2, 3), \"float32\"), (2,), (0,), (1,)", "out of range"},
    {"strided_slice.axes", "rand((2, 3), \"float32\"), (1, -1), (0, 0), (1, 1)", "given twice"},
    {"strided_slice.length", "rand((2, 3), \"float32\"), (0, 1), (0,), (1, 2)", "begin 1"},
    {"strided_slice.strides", "rand((2, 3), \"float32\"), (0,), (0,), (1,), (0,)", "other than 0"},
    {"strided_slice.bounds", "rand((2, 3), \"float32\"), (0,), (0.5,), (1,)", "expected integers"},
    {"strided_slice.bounds", "rand((2, 3), \"float32\"), 0, (0,), (1,)", "expected a tuple"},
    {"strided_slice.inbound", "rand((2, 3), \"float32\"), (1,), (1,), (4,), assume_inbound=True",
     "leaves its extent 3"},
};

// --- slice_like

constexpr Param like_params[] = {
    {"data", ParamKind::Tensor, "tensor", "", "input"},
    {"shape_like", ParamKind::Tensor, "tensor", "", "gives the lengths"},
    {"axes", ParamKind::Attribute, "list[int] or None", "None",
     "the dimensions that are cut to the length that they have in shape_like; None is all"}};

Type infer_like(const CallView& call) {
  const TensorType& data = call.tensor(0);
  const BroadcastShape from = shape_of(data), like = shape_of(call.tensor(1));
  if (from.rank < 0) return TensorType{data.dtype, std::nullopt, -1};
  const std::vector<int> axes = axes_of(call, "axes", from.rank);
  for (int axis : axes) {
    if (like.rank >= 0 && axis >= like.rank) {
      call.reject("rank", call.span,
                  fmt::format("dimension {} is cut, and shape_like has rank {}", axis, like.rank));
    }
  }
  if (!from.dims || !like.dims) return TensorType{data.dtype, std::nullopt, from.rank};
  Dims dims = *from.dims;
  for (int axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    const auto have = dims[at].as_int(), want = (*like.dims)[at].as_int();
    if (have && want && *want > *have) {
      call.reject("length", call.span,
                  fmt::format("dimension {} of data has length {}, shorter than the {} of shape_like", axis,
                              *have, *want));
    }
    dims[at] = (*like.dims)[at];
  }
  return TensorType{data.dtype, std::move(dims), from.rank};
}

Value evaluate_like(const EvalCall& c) {
  const Tensor& data = c.in(0);
  return gathered(data, result_shape(c),
                  [&](const Shape& index) { return position_of(data.shape(), index); });
}

PrimFunc lower_like(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer data = lowering.input(0);
  lowering.input(1);
  const Buffer result = lowering.output();
  for (std::size_t d = 0; d < data.shape().size(); ++d) {
    if (prove_equal(data.shape()[d], result.shape()[d])) continue;
    if (data.shape()[d].as_int() && result.shape()[d].as_int()) continue;  // the type rule compared them
    lowering.require(result.shape()[d] <= data.shape()[d],
                     fmt::format("slice_like: dimension {} of data is shorter than that of shape_like", d));
  }
  lowering.map("slice", result, [&](const Dims& i) { return lowering.loops().load(data, i); });
  return lowering.finish();
}

Partials vjp_like(const VjpCall& c) {
  const GradientRule rule(c);
  const Dims dims = rule.dims(0), like = rule.dims(1);
  GraphValue partial = rule.cotangent();
  const std::vector<int> axes = axes_of(c.call, "axes", static_cast<int>(dims.size()));
  Dims now = dims;
  for (int axis : axes) now[static_cast<std::size_t>(axis)] = like[static_cast<std::size_t>(axis)];
  for (int axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    if (prove_equal(now[at], dims[at])) continue;
    now[at] = dims[at];
    partial = padded(partial, now, axis, Scalar(0), like[at]);
  }
  return {partial.expr(), std::nullopt};
}

constexpr Sample like_samples[] = {
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.0, 0.0]]", "[[1.0, 2.0]]"},
    {"[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.0, 0.0]], axes=[1]", "[[1.0, 2.0], [4.0, 5.0]]"},
    {"rand((4, 5, 6), \"float64\"), rand((2, 5, 3), \"float64\"), axes=[-1, 0]"},
    {"rand((4, 5), \"float32\"), rand((0, 1), \"float32\")"},
    {"rand((3,), \"float32\"), rand((3,), \"float32\")"},
    {"rand((), \"float64\"), rand((), \"float64\")"},
};
constexpr Reject like_rejects[] = {
    {"slice_like.length", "rand((2, 3), \"float32\"), rand((3, 3), \"float32\")", "shorter than the 3"},
    {"slice_like.rank", "rand((2, 3), \"float32\"), rand((2,), \"float32\")", "has rank 1"},
    {"slice_like.axis", "rand((2, 3), \"float32\"), rand((2, 3), \"float32\"), axes=[2]", "out of range"},
};

}  // namespace

extern const Op op_strided_slice{
    .name = "strided_slice",
    .summary = "A slice of a tensor along chosen dimensions.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .lower = lower,
    .vjp = vjp,
    .gradient_doc = "dx = zeros of the shape of x with g in the slice",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "NumPy's slices: negative bounds count from the end, bounds are clamped, a negative stride reverses. "
        "A bound of 2147483647 or more means the end, -2147483647 or less the start. Strides are constants; "
        "begin and end may be symbolic."};

extern const Op op_slice_like{.name = "slice_like",
                              .summary = "The leading part of a tensor, of the size of another tensor.",
                              .params = like_params,
                              .infer = infer_like,
                              .eval = evaluate_like,
                              .lower = lower_like,
                              .vjp = vjp_like,
                              .gradient_doc = "ddata = zeros of the shape of data with g in the leading part",
                              .agreement = Agreement::DataMovement,
                              .samples = like_samples,
                              .rejects = like_rejects,
                              .doc =
                                  "An operator of 2019 that TVM has no longer. shape_like gives its lengths "
                                  "only and has no gradient."};

}  // namespace relish::ops_strided_slice
