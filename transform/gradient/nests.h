// Writing loop nests: loops around one store, as a block with spatial and reduce axes where the axes allow
// it.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/inversion.h"

namespace relish {

// A store for all values of the axes for which the conditions hold. Where it joins its element with more, as
// a sum over `reduce`, `start` is what the element is before; undefined: what it holds.
struct NestStore {
  std::string name;  // of the block
  std::vector<DomainAxis> spatial, reduce;
  std::vector<Scalar> conditions;
  Buffer buffer;
  std::vector<Scalar> indices;
  Scalar value;
  Scalar start;
  Span span;
};
// With loops and block variables of its own. One whose bounds hang on other axes, or whose elements the
// spatial axes do not tell apart, is loops without a block, in the order of the axes.
Stmt nest_of(const NestStore& store);

// The scalar with a dtype that indices and sizes have.
Scalar sized(DType dtype, const Scalar& size);

}  // namespace relish
