// Loop nests of prim_funcs: reductions are split into their initialisation and their update, loops are put
// into an order in which the innermost one runs along memory, and loops whose iterations are independent are
// found. Results are statements again.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/stmt.h"
#include "jit/bounds.h"

namespace relish::jit {

// `X[i] = X[i] op e`: the update of a reduction. `addend` is e.
struct Update {
  BinaryOp op;
  Scalar loaded, addend;
};
std::optional<Update> as_update(const Store& store);

// Whether evaluating can fault: an access not proved in range, a division that may be by zero, a shift by a
// value.
bool can_fault(const Scalar& value, RangeProver& prover);

// How compiled code walks a reduce loop that was arranged. `sweep`: so many iterations are done in one sweep
// of the loop inside. `block`: the body is the clearing of accumulators, what is summed, and the joining of
// the accumulators; the loop runs around what is summed, in blocks of so many iterations.
struct LoopWalk {
  std::int64_t sweep = 0, block = 0;  // 0: neither
};
using LoopWalks = std::unordered_map<std::uint64_t, LoopWalk>;  // by loop variable

// The nest itself, or an equal one in a better order. Every element sees the same updates in the same order;
// only sums of many terms over several loops are made of partial sums, one for each loop. `walks` receives
// how its loops are walked.
Stmt arrange(const Stmt& nest, RangeProver& prover, LoopWalks& walks);

// The ids of those buffers of which every element is written by the first statements of `body` that touch
// them, so that they need not be cleared.
std::unordered_set<std::uint64_t> written_first(const Stmt& body, const std::vector<Buffer>& buffers,
                                                RangeProver& prover);

// What an innermost loop does, as far as vectorizing it goes.
struct LoopTraits {
  bool calls = false;    // math functions
  bool reduces = false;  // stores to an element that does not move with the loop
  bool affine = true;    // every index moves by a fixed stride
};
LoopTraits traits_of(const For& loop, RangeProver& prover);

// Calls of math functions in the expression.
int count_intrinsics(const Scalar& value);

// Whether the iterations of the loop touch disjoint elements and share no locals, so that they may run at
// once.
bool independent_iterations(const For& loop, RangeProver& prover);

}  // namespace relish::jit
