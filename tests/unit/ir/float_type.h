// The type that most tests of nodes need.
#pragma once

#include "ir/nodes/type.h"

namespace relish {

// R.Tensor(dims, "float32")
inline Type f32(std::vector<Scalar> dims) { return tensor_type(std::move(dims), DType::Float32); }

}  // namespace relish
