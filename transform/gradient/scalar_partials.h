// Partial derivatives of the scalar expressions of prim_funcs: what a cotangent of an expression gives to
// the loads in it.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "ir/nodes/scalar.h"

namespace relish {

// What arrives at one load: `value` where all conditions hold, else nothing.
struct LoadPartial {
  Scalar load;
  std::vector<Scalar> conditions;  // of T.if_then_else and T.Select around the load
  Scalar value;                    // of the load's dtype
};

// Loads of buffers that take part, by id.
using ActiveBuffers = std::unordered_set<std::uint64_t>;

// The partials of `value` for a cotangent of its dtype, in the order of the text. What is derived through and
// has no derivative is in `refused`.
struct ScalarPartials {
  std::vector<LoadPartial> loads;
  std::vector<Scalar> refused;
};
ScalarPartials scalar_partials(const Scalar& value, const Scalar& cotangent, const ActiveBuffers& active);

// Whether a load of an active buffer stands where a derivative goes through (not in indices and conditions).
bool depends_on_active(const Scalar& value, const ActiveBuffers& active);

}  // namespace relish
