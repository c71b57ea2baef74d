// Sums to a short row, which stay in registers while the terms go by.
#pragma once

#include <optional>

#include "loops/nest.h"
#include "loops/reduction.h"
#include "schedule/target.h"

namespace relish {

// For C[j] += A[k] * B[k, j] with few j:
//
//   begin:  sums[:] = the first value of C
//   term:   sums[:] += A[k] * B[k, :]     inside of the loops over the terms
//   end:    C[:] = sums[:]
struct RowSums {
  Buffer sums;
  Stmt begin, term, end;
};

// The nest's store, which adds up `update`, by the whole row of its axis `row`, inside of its other loops.
// `init` is null where the sums are joined to what the result holds. None where the row takes more than half
// of the registers, or lanes cannot compute what is added, or it reads what is summed.
std::optional<RowSums> sums_in_registers(const Nest& nest, const Update& update, const Store* init,
                                         const Axis& row, const Target& target, RangeProver& prover);

}  // namespace relish
