// The adjoint of a prim_func, as a prim_func.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/nodes/stmt.h"
#include "transform/gradient/assignments.h"

namespace relish {

// The adjoint and its parameters: values of the function's parameters (inputs, and outputs as they came out),
// cotangents of outputs, the gradients that it gives, then all scalar parameters, then lengths of tapes.
struct PrimAdjoint {
  PrimFunc function;
  // Where it has the values from that it needs: from arguments and results alone, some computed again, or
  // some overwritten ones off a tape.
  enum Keeps : std::uint8_t { Buffers, Recompute, Tape } keeps = Buffers;
  std::vector<std::size_t> values;  // parameters of the function, by position
  // Gives those lengths, an int64 tensor of one dimension, from the values and scalars; absent: there are
  // none.
  std::optional<PrimFunc> counter = {};
  // By gradient, where some stand in the place of a cotangent, which they are apart from what the function
  // writes: that one, by its place among the cotangents. Those have no parameter of their own.
  std::vector<std::optional<std::size_t>> in_place = {};
};

// For the gradients of the parameters `wrt` when the cotangents of the parameters `outputs` are given (all by
// position among the parameters; buffers of floats). The last `results` buffer parameters are what the
// function gives. Where it cannot be, nothing, and `obstacles` tells all that stands in the way.
std::optional<PrimAdjoint> prim_adjoint(const PrimFunc& function, std::size_t results,
                                        const std::vector<std::size_t>& wrt,
                                        const std::vector<std::size_t>& outputs, const std::string& name,
                                        std::vector<Obstacle>& obstacles);

}  // namespace relish
