// The tapes of functions that reach themselves. f_forward takes them and gives them back longer, f_backward
// shorter: what a call of f keeps for its way back lies on one stack of each place in the text that keeps
// something, so all calls together keep what straight code would, and nothing is computed again. Which places
// there are is found by making the bodies once; the functions are then made with the types of all tapes.
#pragma once

#include <optional>
#include <vector>

#include "ir/nodes/builder.h"

namespace relish {

struct RecursionTapes {
  bool trial = true;
  std::vector<Type> found;         // types of the tapes of each place, in the order in which the trial came
  std::size_t base = 0, next = 0;  // number of the first tape of this function, and of the place that comes

  // The number of the tape of a place that keeps values; nothing in the trial.
  std::optional<std::size_t> place(const Type& tape);
};

// Variables for all tapes at another place.
std::vector<Var> fresh_tapes(const std::vector<Expr>& tapes, FunctionBuilder& builder);

}  // namespace relish
