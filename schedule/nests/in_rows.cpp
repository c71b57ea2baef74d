// The first rule that takes a nest has it.
#include "schedule/nests/in_rows.h"

#include "schedule/nests/dots.h"
#include "schedule/nests/joined_terms.h"
#include "schedule/nests/windows.h"

namespace relish {

Stmt in_rows(const Stmt& written, RangeProver& prover, const Target& target, Accumulators& accumulators) {
  const Stmt nest = with_joined_terms(written);
  if (const auto lanes = sum_in_lanes(nest, prover, target, accumulators)) return *lanes;
  if (const auto unrolled = unroll_windows(nest, prover, target)) return *unrolled;
  return arrange(nest, prover, target, accumulators);
}

}  // namespace relish
