// What of a scalar expression is evaluated only where it decides: as Python's, `and` and `or` evaluate their
// second operand where the first does not decide; T.if_then_else and a T.Select of conditions evaluate the
// side taken.
#pragma once

#include "ir/nodes/scalar.h"

namespace relish {

// Whether only the side that the condition takes is evaluated, for a select of the dtype.
inline bool is_one_sided(const Select& node, DType dtype) { return node.lazy || is_bool(dtype); }

}  // namespace relish
