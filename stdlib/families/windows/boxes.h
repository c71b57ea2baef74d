// Boxes of detections: corners in any order, their overlap, and the order of scores.
#pragma once

#include <functional>
#include <vector>

#include "runtime/tensor.h"
#include "stdlib/families/shapes/shapes.h"

namespace relish::boxes {

inline constexpr std::string_view no_gradient =
    "which boxes are kept is a choice, made of sorted scores, that has no slope";

struct Box {
  double left, top, right, bottom;
};

// The box of four consecutive elements of `data` from `at`: two opposite corners.
Box box_of(const Tensor& data, std::int64_t at);
// Area of the intersection over that of the union; 0 when the union is empty.
double overlap(const Box& a, const Box& b);
// The numbers 0 to count - 1 by descending score; equal scores in order, NaN last.
std::vector<std::int64_t> by_score(std::int64_t count, const std::function<double(std::int64_t)>& score);

// The dims of argument `i` of that rank; rejects by "rank".
std::optional<Dims> dims_of(const CallView& call, std::size_t i, int rank);
// Rejects by "dtype" an argument that is not of integers.
void require_integers(const CallView& call, std::size_t i);
// Rejects by "shape" dims that provably differ.
void require_equal(const CallView& call, std::size_t i, const Scalar& have, const Scalar& wanted,
                   std::string_view what);
// An attribute that is the index of the first of `length` elements of a box of data, (batch, boxes,
// elements); `least` is -1 where it may be absent. Rejects by "index".
std::int64_t element_index(const CallView& call, std::string_view name, std::int64_t least,
                           const std::optional<Dims>& data, std::int64_t length = 1);
double number(const CallView& call, std::string_view attribute);
// A tensor type of these dims, or of this rank when they are unknown.
Type type_of(const std::optional<Dims>& dims, std::optional<DType> dtype, int rank);

}  // namespace relish::boxes
