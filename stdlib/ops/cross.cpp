// The cross product of vectors of three elements.
#include "stdlib/families/elementwise/domain.h"
#include "stdlib/families/elementwise/integer_math.h"
#include "stdlib/families/shapes/movement.h"

namespace relish::ops_cross {
namespace {

constexpr std::int64_t length = 3;
constexpr Param params[] = {
    {"x1", ParamKind::Tensor, "tensor", "", "first vectors"},
    {"x2", ParamKind::Tensor, "tensor", "", "second vectors; the shapes broadcast"},
    {"axis", ParamKind::Attribute, "int", "-1", "dimension of the result along which a vector lies"}};

int axis_of(const CallView& call, int rank) { return normal_axis(call, call.int_attribute("axis"), rank); }

// Of operand `i`, which is aligned on the right of a result of that rank.
void require_vectors(const CallView& call, std::size_t i, int rank, int axis) {
  const BroadcastShape shape = shape_of(call.tensor(i));
  if (shape.rank < 0) return;
  const int own = axis - (rank - shape.rank);
  if (own < 0) {
    call.reject("size", call.span_of(i),
                fmt::format("{} of rank {} has no dimension along axis {} of the result, expected 3 elements",
                            params[i].name, shape.rank, axis));
  }
  if (!shape.dims) return;
  const Scalar& extent = (*shape.dims)[static_cast<std::size_t>(own)];
  if (extent.as_int() != std::optional(length)) {
    call.reject("size", call.span_of(i),
                fmt::format("{} of shape {} is no row of vectors: expected 3 elements along the axis",
                            params[i].name, describe_dims(*shape.dims)));
  }
}

Type infer(const CallView& call) {
  require_number(call, 0);
  require_number(call, 1);
  const std::optional<DType> dtype = common_dtype(call, 0, 1);
  const BroadcastShape shape = broadcast(call, call.tensor(0), call.tensor(1));
  if (shape.rank >= 0) {
    const int axis = axis_of(call, shape.rank);
    for (std::size_t i = 0; i < 2; ++i) require_vectors(call, i, shape.rank, axis);
  }
  return tensor_of(shape, dtype);
}

// Where a compact tensor of shape `from` has the element `index` of a result to which it broadcasts.
std::int64_t broadcast_position(const Shape& from, const Shape& index) {
  std::int64_t position = 0;
  const std::size_t missing = index.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    position = position * from[i] + (from[i] == 1 ? 0 : index[missing + i]);
  return position;
}

Value evaluate(const EvalCall& c) {
  const Tensor& a = c.in(0);
  const Tensor b = convert_tensor(c.in(1), a.dtype());
  const Shape shape = broadcast_values(c.call, a.shape(), b.shape());
  const auto axis = static_cast<std::size_t>(axis_of(c.call, static_cast<int>(shape.size())));
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& own = c.in(i).shape();
    const std::size_t missing = shape.size() - own.size();
    if (axis >= missing && own[axis - missing] == length) continue;
    fail(ErrorClass::Runtime, c.call.span, "cross.size",
         fmt::format("cross: {} has shape ({}), expected 3 elements along axis {}", params[i].name,
                     fmt::join(own, ", "), axis));
  }
  Tensor result = Tensor::empty(a.dtype(), shape);
  elementwise::visit<elementwise::Domain::Numbers>(a.dtype(), [&](auto element) {
    using T = decltype(element);
    T* target = result.mutable_view<T>().data();
    for_each_index(shape, [&](Shape index) {
      const std::int64_t at = index[axis];
      const auto product = [&](std::int64_t of_a, std::int64_t of_b) {
        index[axis] = of_a % length;
        const auto x =
            to_compute(a.view<T>()[static_cast<std::size_t>(broadcast_position(a.shape(), index))]);
        index[axis] = of_b % length;
        const auto y =
            to_compute(b.view<T>()[static_cast<std::size_t>(broadcast_position(b.shape(), index))]);
        return x * y;
      };
      *target++ = from_compute<T>(product(at + 1, at + 2) - product(at + 2, at + 1));
    });
  });
  return result;
}

PrimFunc lower(const LowerCall& c) {
  Lowering lowering(c);
  const Buffer a = lowering.input(0), b = lowering.input(1);
  const Buffer result = lowering.output();
  const auto axis = static_cast<std::size_t>(axis_of(c.call, result.rank()));
  const DType wide = compute_dtype(result.dtype());
  const auto element = [&](const Buffer& x, const Dims& i, int turn) {
    const Dims own = lowering.broadcast_index(x, result.shape(), i);
    Dims index = own;
    index[index.size() - (i.size() - axis)] = floor_mod(i[axis] + Scalar(turn), Scalar(length));
    return lowering.load_as(wide, x, index);
  };
  lowering.map("cross", result, [&](const Dims& i) {
    return element(a, i, 1) * element(b, i, 2) - element(a, i, 2) * element(b, i, 1);
  });
  return lowering.finish();
}

Partials vjp(const VjpCall& c) {
  const GradientRule rule(c);
  const GraphValue g = rule.cotangent(), x1 = rule.argument(0), x2 = rule.argument(1);
  const int rank = static_cast<int>(rule.cotangent().type().rank);
  const Attribute axis = static_cast<std::int64_t>(axis_of(c.call, rank) - rank);
  const auto product = [&](const GraphValue& a, const GraphValue& b) {
    return call_op("cross", {a, b}, {{"axis", axis}});
  };
  Partials partials(2);
  if (rule.differentiable(0)) partials[0] = rule.fit(product(x2, g), 0).expr();
  if (rule.differentiable(1)) partials[1] = rule.fit(product(g, x1), 1).expr();
  return partials;
}

constexpr Sample samples[] = {
    {"[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]", "[0.0, 0.0, 1.0]"},
    {"[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0], [0.0, 0.0, 1.0]]", "[[-3.0, 6.0, -3.0], [2.0, -1.0, 0.0]]"},
    {"R.const([[1], [2], [3]], \"int32\"), R.const([[4], [5], [6]], \"int32\"), axis=0", "[[-3], [6], [-3]]"},
    {"rand((2, 3, 4), \"float64\"), rand((3, 1), \"float64\"), axis=-2"},
    {"rand((5, 3), \"float32\"), rand((3,), \"float32\")"},
    {"rand((0, 3), \"float32\"), rand((1, 3), \"float32\")"},
};
constexpr Reject rejects[] = {
    {"cross.size", "rand((2, 4), \"float32\"), rand((2, 4), \"float32\")", "expected 3 elements"},
    {"cross.size", "rand((3, 2), \"float32\"), rand((2,), \"float32\"), axis=0",
     "has no dimension along axis 0"},
    {"cross.axis", "rand((3,), \"float32\"), rand((3,), \"float32\"), axis=1", "out of range"},
    {"cross.dtype", "rand((3,), \"float32\"), rand((3,), \"float64\")", "expected the same"},
};
constexpr std::string_view aliases[] = {"linalg.cross"};

}  // namespace

extern const Op op_cross{.name = "cross",
                         .summary = "Cross product of vectors of three elements.",
                         .params = params,
                         .infer = infer,
                         .eval = evaluate,
                         .lower = lower,
                         .vjp = vjp,
                         .gradient_doc = "dx1 = sum_to(cross(x2, g), x1), dx2 = sum_to(cross(g, x1), x2)",
                         .agreement = Agreement::Composite,
                         .samples = samples,
                         .rejects = rejects,
                         .aliases = aliases,
                         .doc = "Shapes broadcast. The axis counts the dimensions of the result."};

}  // namespace relish::ops_cross
