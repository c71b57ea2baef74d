// The adjoint of a prim_func that overwrites what its gradient needs: the statements run again with what they
// overwrite on tapes, then backwards, last one first. Each store gives the cotangent of its element to what
// its value was computed from, and the element gets back what it held before. Values that are not read on the
// way back are neither kept nor computed again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transform/gradient/prim_adjoint.h"

namespace relish {

// As prim_adjoint. `results` are parameters too: those that the function gives, also in the place of an
// argument.
std::optional<PrimAdjoint> reverse_execution(const PrimFunc& function,
                                             const std::vector<std::size_t>& results,
                                             const std::vector<std::size_t>& arguments,
                                             const std::vector<std::size_t>& wrt,
                                             const std::vector<std::size_t>& outputs, const std::string& name,
                                             std::vector<Obstacle>& obstacles);

}  // namespace relish
