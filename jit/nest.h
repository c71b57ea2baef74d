// Loop nests of prim_funcs: reductions are split into their initialisation and their update, loops are put
// into an order in which the innermost one runs along memory, and loops whose iterations are independent are
// found. Results are statements again.
#pragma once

#include "ir/stmt.h"
#include "jit/bounds.h"

namespace relish::jit {

// Annotation of a reduce loop: so many of its iterations are done in one sweep of the loop inside it.
inline constexpr std::string_view jam_annotation = "relish.jam";

// Annotation of a reduce loop whose body is the clearing of accumulators, what is summed, and the joining of
// the accumulators: the loop runs around what is summed, in blocks of so many iterations.
inline constexpr std::string_view blocks_annotation = "relish.blocks";
// Scope of the accumulators that sums over several loops get: scalars on the stack of the kernel.
inline constexpr std::string_view stack_scope = "relish.stack";

// `X[i] = X[i] op e`: the update of a reduction. `addend` is e.
struct Update {
  BinaryOp op;
  Scalar loaded, addend;
};
std::optional<Update> as_update(const Store& store);

// Whether evaluating can fault: an access not proved in range, a division that may be by zero, a shift by a
// value.
bool can_fault(const Scalar& value, RangeProver& prover);

// The nest itself, or an equal one in a better order. Every element sees the same updates in the same order;
// only sums of many terms over several loops are made of partial sums, one for each loop.
Stmt arrange(const Stmt& nest, RangeProver& prover);

// Whether the first statements of `body` that touch the buffer write every element of it, so that it need not
// be cleared.
bool writes_all_first(const Stmt& body, const Buffer& buffer, RangeProver& prover);

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
