// What a nest of loops is made of: the accesses below a statement, and the loops around one store. Internal
// to jit/nest.cpp and its neighbours.
#pragma once

#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ir/stmt.h"
#include "jit/bounds.h"

namespace relish::jit {

struct Access {
  const Buffer* buffer;
  const std::vector<Scalar>* indices;
  bool store;
};

// The operands directly below.
void for_each_operand(const Scalar& value, const std::function<void(const Scalar&)>& visit);
void collect_loads(const Scalar& value, std::vector<Access>& into);
bool same_indices(const std::vector<Scalar>& a, const std::vector<Scalar>& b);

// All accesses below a statement, and what makes its iterations depend on each other besides memory.
struct Body {
  RangeProver& prover;
  std::vector<Access> accesses;
  std::unordered_set<std::uint64_t> own_buffers, own_scalars;
  bool assigns_outside = false;
  bool has_views = false, has_jumps = false;

  void scalar(const Scalar& value) {
    if (value.defined()) collect_loads(value, accesses);
  }

  void visit(const Stmt& stmt);
};

// A perfect nest around one store, with or without a block. Each axis is a loop and the variable that the
// store uses.
struct Axis {
  const For* loop;
  Span span;
  ScalarVar var;  // the block variable, or the loop variable itself
  const IterVar* iter = nullptr;
  bool stored = false;  // appears in the store's indices
};
struct Nest {
  std::vector<Axis> axes;
  const BlockStmt* block = nullptr;
  Stmt block_stmt;
  Stmt store_stmt;
  const Store* store = nullptr;
};

std::optional<Nest> perfect_nest(const Stmt& stmt);
// Fills in which axes the store uses; false unless its indices are distinct axes and constants.
bool find_stored_axes(Nest& nest);
// The init of the nest's block as a store to the same elements, if it is one.
const Store* matching_init(const Nest& nest);

}  // namespace relish::jit
