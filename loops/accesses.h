// What a statement reads and writes, and what else makes the iterations around it depend on each other.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// One load or store; buffer and indices belong to the statement.
struct Access {
  const Buffer* buffer;
  const std::vector<Scalar>* indices;
  bool store;
};

// The loads of the expression, also those in indices, outermost first.
void collect_loads(const Scalar& value, std::vector<Access>& into);
bool same_indices(const std::vector<Scalar>& a, const std::vector<Scalar>& b);

// How an access moves when a loop's variable counts on by one: not at all, to the next element in memory, or
// otherwise. Buffers without strides of their own are row-major.
enum class Pace { Still, Along, Across };
Pace pace_of(const Buffer& buffer, const std::vector<Scalar>& indices, const ScalarVar& loop_var,
             RangeProver& prover);

// All accesses below the statements visited. Block variables are bound in `prover`.
struct BodyAccesses {
  RangeProver& prover;
  std::vector<Access> accesses = {};
  std::unordered_set<std::uint64_t> own_buffers = {}, own_scalars = {};  // made below
  bool assigns_outside = false;                                          // to a scalar that is not
  bool has_views = false, has_jumps = false;

  void visit(const Stmt& stmt);

 private:
  void scalar(const Scalar& value) {
    if (value.defined()) collect_loads(value, accesses);
  }
};

// All accesses in the statement, in order.
std::vector<Access> accesses_in(const Stmt& stmt);
bool loads_from(const Stmt& stmt, const Buffer& buffer);
// Whether two statements with these accesses may run in turns, a part of each at a time: neither writes what
// the other accesses, but for the buffer that one hands to the other.
bool may_run_in_turns(const std::vector<Access>& first, const std::vector<Access>& second,
                      const Buffer& handed);

}  // namespace relish
