// Rules of shapes that operators share: normal axes, broadcasting of symbolic shapes, shape arguments, and
// the runtime counterparts of each. An operator never writes these again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/operators/op.h"

namespace relish {

using Dims = std::vector<Scalar>;

// The tensor's dims when known; rank 0 is always known.
std::optional<Dims> known_dims(const TensorType& type);
bool is_one(const Scalar& dim);   // the literal 1
bool is_zero(const Scalar& dim);  // the literal 0
// Whether both shapes are known and equal for all values of their variables.
bool provably_equal(const std::optional<Dims>& a, const std::optional<Dims>& b);
// Dims that are all literals, as numbers; InternalError otherwise.
Shape literal_shape(const Dims& dims);
std::string describe_dims(const Dims& dims);

// --- Axes.

// Axis `axis` of [-rank, rank) as one of [0, rank); rejects by the constraint "axis" at the call.
int normal_axis(const CallView& call, std::int64_t axis, int rank);
// The attribute `name` (an int, a list of ints, or None for all) as sorted axes; rejects axes out of range
// and repeated ones by "axis".
std::vector<int> axes_of(const CallView& call, std::string_view name, int rank);
// As axes_of for a list that may not be None; the order is kept.
std::vector<int> ordered_axes(const CallView& call, std::string_view name, int rank);
bool contains(const std::vector<int>& axes, int axis);
Attribute axes_attribute(const std::vector<int>& axes);

// --- Broadcasting, right-aligned: a literal 1 stretches, provably equal dims unify, two different literals
// are rejected by the constraint "shape"; of other pairs nothing is known, so the result keeps its rank only.

struct BroadcastShape {
  std::optional<Dims> dims;
  int rank = -1;
};
BroadcastShape broadcast(const CallView& call, const TensorType& a, const TensorType& b);
BroadcastShape broadcast(const CallView& call, const BroadcastShape& a, const BroadcastShape& b);
BroadcastShape shape_of(const TensorType& type);
TensorType tensor_of(const BroadcastShape& shape, std::optional<DType> dtype);
// The shape of two values; RuntimeError at the call when they do not broadcast.
Shape broadcast_values(const CallView& call, const Shape& a, const Shape& b);

// --- Shape arguments (R.shape([...]), a tuple, or a shape variable).

// What is known of argument `i`, a shape.
BroadcastShape shape_argument(const CallView& call, std::size_t i);
// The dims of a concrete result type.
Shape result_shape(const EvalCall& call);

}  // namespace relish
