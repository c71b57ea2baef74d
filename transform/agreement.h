// How far two evaluations of a function may differ, by what its text says: classes of runtime/closeness.h.
#pragma once

#include <optional>
#include <string>

#include "ir/nodes/module.h"

namespace relish {

inline constexpr int class_of_bits = 1, class_of_functions = 4, class_of_sums = 5, class_of_composites = 6;

// Elementary functions and sums of a prim_func. A function that is a result as it stands differs by few units
// in the last place; what is computed with it further may cancel, as may a sum, and nothing is known of how
// they are joined. A reduction to two buffers computes both before it stores them, so the loads of a sum may
// stand in lets.
int agreement_class(const PrimFunc& function);

// The float with the fewest digits among the values of a function and of those that it may call: a result may
// differ by those digits, whatever dtype it has in the end. Nothing where no value is a float.
std::optional<DType> coarsest_float(const Module& module, const std::string& function);

}  // namespace relish
