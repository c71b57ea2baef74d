// How much a statement does, in simple statements (a store of an expression of few operations), and how
// control leaves it.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/nodes/stmt.h"

namespace relish {

// Below so many simple statements, waking a thread costs more than it saves.
inline constexpr std::int64_t least_parallel_work = 1 << 15;

// Whether the loop stands for copies of its body: unrolled, and of few iterations.
bool unrolls(const For& loop);
// Whether there is a loop that does not unroll.
bool has_loop(const Stmt& stmt);
// Whether a break in the statement means the loop around it; with continue, unless `breaks_only`.
bool has_own_jump(const Stmt& stmt, bool breaks_only);
bool has_return(const Stmt& stmt);
// Whether several buffers of the function may share elements.
bool declares_views(const PrimFunc& function);

// How many iterations take the time of one simple statement each, where a literal tells: those of a
// vectorized loop over what registers hold run side by side.
std::optional<std::int64_t> counted_iterations(const For& loop);
// The time of a vectorized loop around one store, in simple statements: what its vectors compute, as their
// indices leave the loops around them; a vector that goes to memory takes that of four. None for other loops.
std::optional<std::int64_t> time_of_vectors(const For& loop);
// The statement by itself, without those below it.
std::int64_t cost_of(const Stmt& stmt);
// All of it, when all extents are literals.
std::optional<std::int64_t> constant_work(const Stmt& stmt);

}  // namespace relish
