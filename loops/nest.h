// Perfect nests: loops around one statement, mostly a store, with or without a block.
#pragma once

#include <optional>
#include <vector>

#include "ir/nodes/stmt.h"
#include "loops/range_prover.h"

namespace relish {

// Each axis is a loop and the variable that the
// store uses.
struct Axis {
  const For* loop;
  Span span;
  ScalarVar var;  // the block variable, or the loop variable itself
  const IterVar* iter = nullptr;
  bool stored = false;  // appears in the store's indices
};
// Whether the value uses the axis, by its loop's variable or that of the block.
bool mentions(const Scalar& value, const Axis& axis);

struct Nest {
  std::vector<Axis> axes;
  const BlockStmt* block = nullptr;
  Stmt block_stmt;
  Stmt store_stmt;  // what stands inside
  const Store* store = nullptr;
};

std::optional<Nest> perfect_nest(const Stmt& stmt);
// The same around a statement of any kind; `store` is null where that is none.
std::optional<Nest> perfect_loops(const Stmt& stmt);
// The perfect nest without loops of one iteration, whose place stands for their variables: what remains are
// the axes that anything moves along. Other statements, and nests of nothing but such loops, stay.
Stmt without_unit_loops(const Stmt& stmt);
// The dimension in which elements lie side by side: the last one of more than one element.
std::size_t dimension_along_memory(const Buffer& buffer);
// Fills in which axes the store uses; false unless its indices are distinct axes and constants. `strided`:
// also an axis times a number above 0, plus a constant. `outer`: also variables from outside of the nest.
bool find_stored_axes(Nest& nest, bool strided = false, bool outer = false);
// The variable of an index of that form.
std::optional<ScalarVar> strided_var(const Scalar& index);
// The init of the nest's block as a store to the same elements, if it is one.
const Store* matching_init(const Nest& nest);

// What is proved inside of all loops of the nest; leave before anything else is entered or left.
void enter(const Nest& nest, RangeProver& prover);
void leave(const Nest& nest, RangeProver& prover);
// Inside of the nest: whether the store, or that of its init, may fail for some iteration. `init` may be
// null.
bool may_fault(const Nest& nest, const Store* init, RangeProver& prover);

}  // namespace relish
