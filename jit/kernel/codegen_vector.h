// Code generation of T.vectorized loops as vector operations: all iterations at once, a lane each.
#pragma once

#include <unordered_map>

#include "jit/kernel/codegen_scalar.h"

namespace relish::jit {

class VectorEmitter : protected ScalarEmitter {
 protected:
  using ScalarEmitter::ScalarEmitter;

  // Whether the loop was emitted: its iterations name values and store to elements side by side, none sees
  // what another stores, nothing can fail, and it has a literal number of iterations for which there are
  // registers. With more than one store or name each operation must have a form for lanes (loops/lanes.h).
  // Where the machine has masks, a condition that holds for the first lanes, or none, may stand around the
  // body or choose what is loaded. Any other loop stands for its iterations one after the other.
  bool vector_loop(const For& loop, Span span);

 private:
  // A loop that is being emitted: every expression stands for one value a lane.
  struct Lanes {
    const For& loop;
    llvm::Value* begin;
    unsigned count;
    std::unordered_map<std::uint64_t, llvm::Value*> names = {};  // what the body has named so far
    llvm::Value* mask = nullptr;                                 // the lanes that run the body; null: all
    Scalar condition = {};                                       // of those,
    std::size_t facts = 0;                                       // and what was known before
  };
  bool fits(const For& loop, const Store& store);
  bool computes_alone(const Scalar& value, const For& loop);
  bool loads_in_lanes(const Scalar& value, const For& loop);
  bool masked_loop(const For& loop, const IfStmt& guarded, Span span);
  bool is_prefix(const Scalar& condition, const For& loop);
  llvm::Value* prefix_mask(const Scalar& condition, const Lanes& lanes);
  void emit_lines(const std::vector<Stmt>& lines, Lanes& lanes, Span span);
  void store_lanes(const Store& store, Span span, const Lanes& lanes);
  llvm::Value* vector(const Scalar& value, const Lanes& lanes);
  llvm::Value* counted_lanes(DType dtype, const Lanes& lanes);
  llvm::Value* vector_load(const Load& load, Span span, const Lanes& lanes);
  llvm::Value* masked_load(const Load& load, Span span, const Lanes& lanes, llvm::Value* mask,
                           llvm::Value* otherwise);
  llvm::Value* gathered(const Load& load, const Lanes& lanes);
  bool in_range_in_all_lanes(const Load& load, const Lanes& lanes);
  bool loads_under_mask(const Select& node, const Lanes& lanes);
  std::int64_t step_of(const Load& load, const Lanes& lanes);
  llvm::Value* strided_load(llvm::Type* element, llvm::Value* address, std::int64_t step, unsigned count,
                            llvm::Align align);
  llvm::Value* vector_binary(const Binary& node, const Lanes& lanes);
  llvm::Value* vector_cast(llvm::Value* value, DType from, DType to);
  llvm::Value* vector_choice(const Select& node, const Lanes& lanes);
  llvm::Value* vector_logical(const Logical& node, const Lanes& lanes);
  llvm::Value* vector_intrinsic(const IntrinsicCall& node, const Lanes& lanes);
  llvm::Value* vector_update(const Store& store, const Update& update, const Lanes& lanes);
  llvm::Value* lane_by_lane(const Scalar& value, const Lanes& lanes);
  bool moves(const Scalar& value, const Lanes& lanes);
};

}  // namespace relish::jit
