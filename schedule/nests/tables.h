// Values that a nest computes again and again, as the places and weights of an image that is resized.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// The nest behind loops that fill tables: a costly value (quotients, functions, numbers that become indices)
// that some of the axes alone decide is computed once for these, where the nest would compute it eight times
// or more for each. Nothing is tabled that may fail, that reads what the nest writes, or that stays the same
// in the inner loops anyway. Every value is computed as before, so no bit changes but that a term which
// became one number is added by itself.
std::optional<Stmt> with_tables(const Stmt& nest, RangeProver& prover);

}  // namespace relish
