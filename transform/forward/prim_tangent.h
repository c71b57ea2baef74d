// The tangent of a prim_func: the same statements, each store accompanied by the store of its tangent.
// Nothing is kept or computed again, so statements may overwrite what they read, loop until a condition fails
// and read by indices that are data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/nodes/stmt.h"
#include "transform/gradient/prim_adjoint.h"

namespace relish {

struct PrimTangent {
  // Parameters: the buffers of the arguments, their tangents (`inputs`), those of the results, their tangents
  // (`outputs`), then the scalars.
  PrimFunc function;
  std::vector<std::size_t> inputs, outputs;  // parameters of the original
};

// For tangents of the parameters `wrt`. The last `results` of the buffers are results, the others arguments;
// one that is stored to and hangs on those of `wrt` has a tangent too. Nothing when there are obstacles.
std::optional<PrimTangent> prim_tangent(const PrimFunc& function, std::size_t results,
                                        const std::vector<std::size_t>& wrt, const std::string& name,
                                        std::vector<Obstacle>& obstacles);

}  // namespace relish
