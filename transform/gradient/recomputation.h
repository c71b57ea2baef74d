// Values of the way there that the way back computes again where it needs them, in place of keeping them.
#pragma once

#include <vector>

#include "ir/nodes/builder.h"
#include "transform/gradient/checkpoints.h"

namespace relish {

// Whether the binding only names a value that is there: it takes no memory, and goes with what it names.
bool only_names(const Binding& binding);

// Those of `wanted` that can be computed again: pure, and made of a tensor, before which a barrier can stand,
// or of another such value; and all that only names one of them.
ValueIds values_to_compute_again(const std::vector<Binding>& ahead, const ValueIds& wanted);

// The way back with copies `<name>_cp` of the values in `again`, each once, directly before their first use
// there. They read kept tensors through R.grad.barrier, so that no other pass takes them for the originals.
// Bindings of `back` that neither `results` nor effects need are left out.
std::vector<Binding> computed_again(const std::vector<Binding>& ahead, const std::vector<Binding>& back,
                                    const ValueIds& again, const std::vector<Expr>& results,
                                    FunctionBuilder& names);

}  // namespace relish
