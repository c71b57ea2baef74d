// What scalar variables and buffers are in the code at a point.
#include "jit/kernel/codegen_scalar.h"
#include "loops/lasting.h"

namespace relish::jit {

void ScalarEmitter::define(const ScalarVar& var, ScalarSlot slot) {
  if (frame_.scalars.insert_or_assign(var.id(), slot).second) frame_.scalar_order.push_back(var);
}

void ScalarEmitter::define(const Buffer& buffer, BufferSlot slot) {
  if (frame_.buffers.insert_or_assign(buffer.id(), std::move(slot)).second)
    frame_.buffer_order.push_back(buffer);
}

// The body may change what its begin and its extent were computed of.
void ScalarEmitter::enter(const For& loop) {
  const std::vector<Scalar> range = as_begun({loop.begin, loop.extent}, loop.body);
  prover_.enter_loop(loop.var, range[0], range[1]);
}

llvm::Value* ScalarEmitter::stride_of(const BufferSlot& slot, std::size_t dimension) {
  if (!slot.strides.empty()) return slot.strides[dimension];
  llvm::Value* stride = int64(1);
  for (std::size_t d = slot.dims.size(); d-- > dimension + 1;)
    stride = builder_.CreateNSWMul(slot.dims[d], stride);
  return stride;
}

// Beyond 64 bits the nearest number: what a view reaches is then outside of any source.
llvm::Value* ScalarEmitter::saturated_sum(llvm::Value* a, llvm::Value* b) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, a, b);
}

llvm::Value* ScalarEmitter::saturated_product(llvm::Value* a, llvm::Value* b) {
  llvm::Value* both = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, a, b);
  llvm::Value* negative =
      builder_.CreateICmpNE(builder_.CreateICmpSLT(a, int64(0)), builder_.CreateICmpSLT(b, int64(0)));
  return builder_.CreateSelect(builder_.CreateExtractValue(both, 1),
                               builder_.CreateSelect(negative, int64(INT64_MIN), int64(INT64_MAX)),
                               builder_.CreateExtractValue(both, 0));
}

void ScalarEmitter::leave_scope(std::size_t scalars, std::size_t buffers) {
  while (frame_.scalar_order.size() > scalars) {
    frame_.scalars.erase(frame_.scalar_order.back().id());
    frame_.scalar_order.pop_back();
  }
  while (frame_.buffer_order.size() > buffers) {
    frame_.buffers.erase(frame_.buffer_order.back().id());
    frame_.buffer_order.pop_back();
  }
}

}  // namespace relish::jit
