// Parts of gradients of buffers in prim_funcs: what one read gives, gathered by element where the iterations
// that read an element are known, else scattered from the iterations.
#pragma once

#include <vector>

#include "transform/gradient/assignments.h"
#include "transform/gradient/nests.h"
#include "transform/gradient/scalar_partials.h"

namespace relish {

// The axes over the elements of a buffer.
struct Targets {
  std::vector<DomainAxis> axes;
  std::vector<ScalarVar> vars;
};
Targets targets_over(const Buffer& buffer);

// One read's part of the gradient of its buffer: gathered for an element (in terms of targets and `reduce`),
// or scattered from the iterations of an assignment.
struct Part {
  std::vector<DomainAxis> reduce;
  Scalar value;
  const Assignment* scattered = nullptr;
  std::vector<Scalar> indices, conditions;  // of a scattered one
};

// The part that the read gives which `reader` makes; the targets are those of the buffer that is read.
Part part_of(const Assignment& reader, const LoadPartial& partial, const Targets& targets);

// What a scattered part adds to `into`: in the order of the text, by loops without blocks, since iterations
// may meet at an element.
NestStore scattered(const Part& part, const Buffer& into);
// The buffer with one value everywhere.
NestStore filled(const Buffer& buffer, const Scalar& value, Span span);

// Partials of one element under the same conditions, as their sum.
std::vector<LoadPartial> joined(std::vector<LoadPartial> partials);

}  // namespace relish
