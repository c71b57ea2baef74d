// Code generation of T.vectorized loops as vector operations: all iterations at once, a lane each.
#pragma once

#include "jit/kernel/codegen_scalar.h"

namespace relish::jit {

class VectorEmitter : protected ScalarEmitter {
 protected:
  using ScalarEmitter::ScalarEmitter;

  // Whether the loop was emitted: it stores once an iteration, to elements side by side, no iteration sees
  // what another stores, nothing can fail, and it has a literal number of iterations for which there are
  // registers. Any other loop stands for its iterations one after the other.
  bool vector_loop(const For& loop, Span span);

 private:
  // A loop that is being emitted: every expression stands for one value a lane.
  struct Lanes {
    const For& loop;
    llvm::Value* begin;
    unsigned count;
  };
  bool fits(const For& loop, const Store& store);
  llvm::Value* vector(const Scalar& value, const Lanes& lanes);
  llvm::Value* vector_load(const Load& load, Span span, const Lanes& lanes);
  std::int64_t step_of(const Load& load, const Lanes& lanes);
  llvm::Value* strided_load(llvm::Type* element, llvm::Value* address, std::int64_t step, unsigned count,
                            llvm::Align align);
  llvm::Value* vector_binary(const Binary& node, const Lanes& lanes);
  llvm::Value* vector_choice(const Select& node, const Lanes& lanes);
  llvm::Value* vector_logical(const Logical& node, const Lanes& lanes);
  llvm::Value* vector_update(const Store& store, const Update& update, const Lanes& lanes);
  llvm::Value* lane_by_lane(const Scalar& value, const Lanes& lanes);
  bool moves(const Scalar& value, const Lanes& lanes);
};

}  // namespace relish::jit
