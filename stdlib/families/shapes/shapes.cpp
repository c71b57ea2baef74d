// Shape rules shared by all operators.
#include "stdlib/families/shapes/shapes.h"

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/calls/fault.h"
#include "ir/printer/printer.h"

namespace relish {

std::optional<Dims> known_dims(const TensorType& type) {
  if (type.shape) return type.shape;
  if (type.rank == 0) return Dims{};
  return std::nullopt;
}

bool is_one(const Scalar& dim) { return dim.as_int() == 1; }
bool is_zero(const Scalar& dim) { return dim.as_int() == 0; }

bool provably_equal(const std::optional<Dims>& a, const std::optional<Dims>& b) {
  return a && b &&
         std::equal(a->begin(), a->end(), b->begin(), b->end(),
                    [](const Scalar& x, const Scalar& y) { return prove_equal(x, y); });
}

Shape literal_shape(const Dims& dims) {
  Shape shape;
  for (const Scalar& dim : dims) {
    const auto value = dim.as_int();
    RELISH_CHECK(value.has_value(), "a literal dimension was expected");
    shape.push_back(*value);
  }
  return shape;
}

std::string describe_dims(const Dims& dims) {
  std::string text = "(";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + print(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

int normal_axis(const CallView& call, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    call.reject("axis", call.span,
                fmt::format("axis {} is out of range for a tensor of rank {}", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> ordered_axes(const CallView& call, std::string_view name, int rank) {
  std::vector<int> axes;
  for (std::int64_t axis : int_list(call.attribute(name))) {
    const int normal = normal_axis(call, axis, rank);
    if (contains(axes, normal)) call.reject("axis", call.span, fmt::format("axis {} is given twice", axis));
    axes.push_back(normal);
  }
  return axes;
}

std::vector<int> axes_of(const CallView& call, std::string_view name, int rank) {
  std::vector<int> axes;
  if (call.attribute(name).is_none()) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  axes = ordered_axes(call, name, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

bool contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Attribute axes_attribute(const std::vector<int>& axes) {
  return attribute_of(std::vector<std::int64_t>(axes.begin(), axes.end()));
}

BroadcastShape shape_of(const TensorType& type) {
  std::optional<Dims> dims = known_dims(type);
  const int rank = dims ? static_cast<int>(dims->size()) : type.rank;
  return {std::move(dims), rank};
}

BroadcastShape broadcast(const CallView& call, const TensorType& a, const TensorType& b) {
  return broadcast(call, shape_of(a), shape_of(b));
}

BroadcastShape broadcast(const CallView& call, const BroadcastShape& a, const BroadcastShape& b) {
  if (a.rank < 0 || b.rank < 0) return {};
  BroadcastShape result{std::nullopt, std::max(a.rank, b.rank)};
  if (!a.dims || !b.dims) return result;
  Dims dims;
  bool known = true;
  for (int i = 0; i < result.rank; ++i) {
    const int in_a = i - (result.rank - a.rank), in_b = i - (result.rank - b.rank);
    if (in_a < 0 || in_b < 0) {
      dims.push_back(in_a < 0 ? (*b.dims)[in_b] : (*a.dims)[in_a]);
      continue;
    }
    const Scalar& x = (*a.dims)[in_a];
    const Scalar& y = (*b.dims)[in_b];
    if (is_one(x)) {
      dims.push_back(y);
    } else if (is_one(y) || prove_equal(x, y)) {
      dims.push_back(x);
    } else if (x.as_int() && y.as_int()) {
      call.reject("shape", call.span,
                  fmt::format("shapes {} and {} do not broadcast: dimension {} is {} and {}",
                              describe_dims(*a.dims), describe_dims(*b.dims), i, *x.as_int(), *y.as_int()));
    } else {
      known = false;  // equal, or 1 on either side: only a run can tell
    }
  }
  if (known) result.dims = std::move(dims);
  return result;
}

TensorType tensor_of(const BroadcastShape& shape, std::optional<DType> dtype) {
  return TensorType{dtype, shape.dims, shape.rank};
}

Shape broadcast_values(const CallView& call, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const std::int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x != y && x != 1 && y != 1) {
      fail_fault(Fault{FaultKind::ShapeMismatch,
                       fmt::format("the second operand of {}", call.op.name),
                       {static_cast<std::int64_t>(i), y, x}},
                 call.span);
    }
    result[i] = x == 1 ? y : x;
  }
  return result;
}

BroadcastShape shape_argument(const CallView& call, std::size_t i) {
  const Expr& argument = call.args[i];
  if (const auto* literal = argument.as<ShapeLiteral>()) {
    return {literal->dims, static_cast<int>(literal->dims.size())};
  }
  if (const auto* type = argument.type().as<ShapeType>()) {
    return {type->dims, type->dims ? static_cast<int>(type->dims->size()) : type->rank};
  }
  call.reject("shape", call.span_of(i),
              fmt::format("{} is {}, expected a shape", call.op.params[i].name, print(argument.type())));
}

Shape result_shape(const EvalCall& call) {
  const TensorType* type = call.result_type.tensor();
  RELISH_CHECK(type != nullptr);
  const std::optional<Dims> dims = known_dims(*type);
  RELISH_CHECK(dims.has_value(), "an operator is evaluated at a concrete result type");
  return literal_shape(*dims);
}

}  // namespace relish
