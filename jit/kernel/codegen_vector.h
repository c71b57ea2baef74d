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
  // Any other loop stands for its iterations one after the other.
  bool vector_loop(const For& loop, Span span);

 private:
  // A loop that is being emitted: every expression stands for one value a lane.
  struct Lanes {
    const For& loop;
    llvm::Value* begin;
    unsigned count;
    std::unordered_map<std::uint64_t, llvm::Value*> names = {};  // what the body has named so far
  };
  bool fits(const For& loop, const Store& store);
  void store_lanes(const Store& store, Span span, const Lanes& lanes);
  llvm::Value* vector(const Scalar& value, const Lanes& lanes);
  llvm::Value* vector_load(const Load& load, Span span, const Lanes& lanes);
  std::int64_t step_of(const Load& load, const Lanes& lanes);
  llvm::Value* strided_load(llvm::Type* element, llvm::Value* address, std::int64_t step, unsigned count,
                            llvm::Align align);
  llvm::Value* vector_binary(const Binary& node, const Lanes& lanes);
  llvm::Value* vector_choice(const Select& node, const Lanes& lanes);
  llvm::Value* vector_logical(const Logical& node, const Lanes& lanes);
  llvm::Value* vector_intrinsic(const IntrinsicCall& node, const Lanes& lanes);
  llvm::Value* vector_update(const Store& store, const Update& update, const Lanes& lanes);
  llvm::Value* lane_by_lane(const Scalar& value, const Lanes& lanes);
  bool moves(const Scalar& value, const Lanes& lanes);
};

}  // namespace relish::jit
