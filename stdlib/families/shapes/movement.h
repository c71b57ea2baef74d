// Operators that move elements: walks over indices, indices that are data (checked in both tiers), and
// slices. A negative index counts from the end of its dimension; one outside of it is a RuntimeError at the
// call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stdlib/families/elementwise/dtypes.h"
#include "stdlib/families/elementwise/elements.h"
#include "stdlib/families/language/gradient.h"
#include "stdlib/families/language/lowering.h"
#include "stdlib/families/language/pace.h"

namespace relish {

// --- Evaluation.

// Calls visit(index) for every index of `shape` in row-major order; rank 0 has one index.
template <class Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  for (std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  Shape index(shape.size(), 0);
  Pace pace;
  while (true) {
    visit(static_cast<const Shape&>(index));
    pace();
    std::size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}
// The position of an element in a compact tensor of that shape.
std::int64_t position_of(const Shape& shape, const Shape& index);
// Element `to` of `target` becomes element `from` of `source`; both have the same dtype.
void copy_element(Tensor& target, std::int64_t to, const Tensor& source, std::int64_t from);
// The tensor of `shape` whose element at `index` is that of `x` at the position `from(index)`.
Tensor gathered(const Tensor& x, const Shape& shape,
                const std::function<std::int64_t(const Shape& index)>& from);
// What an index counts: the elements of a dimension of an argument.
struct Indexed {
  std::string_view data;  // the argument's parameter
  std::size_t axis;
  std::int64_t extent;
};
// "[1, 2]": where element `flat` of a row-major tensor stands; " at [1, 2] of name" as a part of a sentence,
// which is empty for a tensor of one element without dimensions.
std::string place_of(const Shape& shape, std::int64_t flat);
std::string at_place(std::string_view name, const Shape& shape, std::int64_t flat);
// Element `flat` of a tensor of indices as int64. One of uint64 that int64 does not reach is its largest
// number, which is beyond every dimension, as is what it stands for.
std::int64_t index_at(const Tensor& indices, std::int64_t flat);
// As messages write it.
std::string index_text(const Tensor& indices, std::int64_t flat);
// The remainder of such an element by a length, of [0, extent): that of uint64 counts without a sign.
std::int64_t wrapped_index(const Tensor& indices, std::int64_t flat, std::int64_t extent);
// RuntimeError at the call, with the value, its place and the bound, unless element `flat` of `indices`, the
// parameter called `name`, is in [-extent, extent).
void check_index(const CallView& call, std::string_view name, const Tensor& indices, std::int64_t flat,
                 const Indexed& of);
// Checks all of them, as compiled code does: also when no element is moved.
void check_indices(const CallView& call, std::string_view name, const Tensor& indices, const Indexed& of);
// An index of [-extent, extent) as one of [0, extent).
inline std::int64_t from_start(std::int64_t index, std::int64_t extent) {
  return index < 0 ? index + extent : index;
}

// --- Inference.

// Rejects by "indices" unless argument `i` is a tensor of integers (or of unknown dtype).
void require_indices(const CallView& call, std::size_t i);
// Rejects by "dtype" when arguments `i` and `j` have different dtypes.
void require_same_dtype(const CallView& call, std::size_t i, std::size_t j);
// The dims of `shape` with those of [begin, end) replaced by `middle`; a rank alone where dims are unknown.
BroadcastShape replaced_dims(const BroadcastShape& shape, int begin, int end, const BroadcastShape& middle);
Dims replaced_dim(Dims dims, int axis, const Scalar& dim);
Dims without_dim(Dims dims, int axis);

// --- Lowering.

// What a nest says of an index that is out of range: the nest knows its value, the message does not.
std::string index_message(const CallView& call, std::string_view data, std::size_t axis);
// Asserts for every element of `indices` that it is an index of dimension `axis` of `data`.
void check_indices(Lowering& lowering, const Buffer& indices, const Buffer& data, std::size_t axis);
// An index of any integer dtype as int64, as index_at gives it.
Scalar wide_index(const Scalar& index);
// Its remainder, as wrapped_index gives it.
Scalar wrapped_index(const Scalar& index, const Scalar& extent);
// An index of [-extent, extent), of any integer dtype, as an int64 one of [0, extent).
Scalar from_start(const Scalar& index, const Scalar& extent);
// The same of an index that has been checked, limited to the extent: so whoever reads there need not check
// again.
Scalar checked_place(const Scalar& index, const Scalar& extent);
// for i in range(extent): body(i), inside a block.
Stmt repeat(std::string_view name, const Scalar& extent, Span span,
            const std::function<Stmt(const Scalar& i)>& body);
// Loops for a whole index of `shape`, in row-major order.
Stmt repeat_index(std::string_view name, const Dims& shape, Span span,
                  const std::function<Stmt(const Dims& index)>& body);
// Copies x into a result of other shape with the same elements in row-major order.
PrimFunc lower_same_order(const LowerCall& c);

// --- Slices: begin, begin + step, … of one dimension, as in NumPy: negative bounds count from the end, and
// bounds are clamped. A bound of 2147483647 or more is the end; one of -2147483647 or less the start.

struct Slice {
  std::int64_t begin, step, count;
};
// `inbound`: promised to be within the dimension, and not clamped to it.
Slice slice_of(std::int64_t extent, std::int64_t begin, std::int64_t end, std::int64_t step,
               bool inbound = false);
struct SymbolicSlice {
  Scalar begin;
  std::int64_t step;
  Scalar count;
};
// `inbound`: promised to be within the dimension, so that symbolic bounds need no clamping.
SymbolicSlice slice_of(const Scalar& extent, const Scalar& begin, const Scalar& end, std::int64_t step,
                       bool inbound);

// --- Gradients.

GraphValue zeros_of(const Dims& dims, const GraphValue& dtype_like);
// The positions 0, 1, … along an axis of a tensor of int64 of shape `dims`.
GraphValue positions(const Dims& dims, int axis, FunctionBuilder& builder);
// A tuple of scalars.
GraphValue scalars(const std::vector<Scalar>& values, FunctionBuilder& builder);
GraphValue sliced(const GraphValue& x, int axis, const Scalar& begin, const Scalar& end);
// Zeros of the shape `dims` with g in the slice begin:end of one axis.
GraphValue padded(const GraphValue& g, const Dims& dims, int axis, const Scalar& begin, const Scalar& end,
                  std::int64_t step = 1);

}  // namespace relish
