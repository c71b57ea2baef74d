// The iterations of a guarded sum that have certain remainders, as a nest of their own. A condition
// (a * x + b * k + c) % s == 0, where x is an axis of the result, k one of the sum, and b and s have no
// common divisor, holds for one remainder of k for each of x: x = s * x' + r and k = s * k' + q run over all
// r, and q is solved for. Without a k it holds for one r.
#pragma once

#include <optional>
#include <vector>

#include "loops/nest.h"

namespace relish {

// Each remainder of each condition makes a copy of the text.
inline constexpr std::int64_t most_remainder_copies = 16;

// (stored_factor * stored + summed_factor * summed + constant) % divisor == 0
struct Congruence {
  const Axis* stored = nullptr;
  const Axis* summed = nullptr;  // null: none
  std::int64_t stored_factor = 0, summed_factor = 0, constant = 0, divisor = 0;

  // That of the summed axis for one of the stored axis; there is just one.
  std::int64_t remainder_for(std::int64_t stored_remainder) const;
  // Without a summed axis: the one remainder of the stored axis for which it holds.
  std::int64_t stored_remainder() const;
};

// What a nest sums, apart.
struct GuardedSum {
  std::vector<Congruence> congruences;
  std::vector<Scalar> others;  // the conditions that are none
  Scalar term;
  const Store* init = nullptr;
};

// Which conditions are congruences: those of an axis of the result and one of the sum, or those of an axis of
// the result alone.
enum class CongruenceKind { OfBoth, OfStored };

// Of a nest that sums to 0 what its conditions let through; none when it does something else.
std::optional<GuardedSum> guarded_sum(const Nest& nest, CongruenceKind kind);

// One nest: its loops, and what a block in them does.
struct RemainderPart {
  std::vector<For> loops;
  std::vector<IterVar> iters;
  Stmt init, body;
  bool sums = false;
};

// The iterations with these remainders of the stored axes, in the order of the congruences. Without a body
// when there are none. `into`: where defined, what is stored to instead, at the places x'.
RemainderPart remainder_part(const Nest& nest, const GuardedSum& guarded, RangeProver& prover,
                             const std::vector<std::int64_t>& remainders, const Buffer& into = {});

Stmt nest_of(const RemainderPart& part, const Nest& nest);

// Whether what the part does is shown to succeed.
bool free_of_faults(const RemainderPart& part, const Nest& nest, RangeProver& prover);

}  // namespace relish
