// Whether the iterations of a loop may run at once, and what vectorizing it has to do with.
#pragma once

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// Whether it is shown that the iterations of the loop touch disjoint elements and share no locals, so that
// they may run at once. (loops/dependence.h shows the contrary; of some loops neither is known.)
bool independent_iterations(const For& loop, RangeProver& prover);

// The most that an extent can be, when it or one side of a minimum is a literal.
std::optional<std::int64_t> most_iterations(const Scalar& extent);

// What an innermost loop does, as far as vectorizing it goes.
struct LoopTraits {
  bool reduces = false;  // stores to an element that does not move with the loop
  bool affine = true;    // every index moves by a fixed stride
  // Where some are read the data alone tell, in a loop whose other indices do so and which sums nothing.
  bool gathers = false;
};
LoopTraits traits_of(const For& loop, RangeProver& prover);

// Calls of math functions in the expression.
int count_intrinsics(const Scalar& value);

}  // namespace relish
