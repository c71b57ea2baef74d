// Code around calls of kernels that are watched: where each begins and ends, and for which sizes.
#pragma once

#include <vector>

#include "jit/graph/function_code.h"
#include "jit/runtime/kernel_runs.h"

namespace relish::jit {

class KernelWatch {
 public:
  // Null: nothing is watched, and no code is made.
  explicit KernelWatch(std::vector<WatchedKernel>* kernels) : kernels_(kernels) {}

  // `sizes` are the values of the kernel's symbols.
  void begin(FunctionCode& code, const PrimFunc& function, Span span,
             llvm::ArrayRef<llvm::Value*> sizes) const {
    if (!kernels_) return;
    kernels_->push_back({std::make_shared<const PrimFunc>(function), span, {}});
    llvm::Function* begin = code.runtime.get("rt_kernel_begin", code.builder.getVoidTy(),
                                             {code.ptr, code.i32, code.ptr, code.i64});
    code.builder.CreateCall(begin, {code.context, code.int32(static_cast<std::int64_t>(kernels_->size()) - 1),
                                    RuntimeCalls::array_of(code.builder, sizes),
                                    code.int64(static_cast<std::int64_t>(sizes.size()))});
  }
  void end(FunctionCode& code) const {
    if (!kernels_) return;
    code.builder.CreateCall(code.runtime.get("rt_kernel_end", code.builder.getVoidTy(), {code.ptr}),
                            {code.context});
  }

 private:
  std::vector<WatchedKernel>* kernels_;
};

}  // namespace relish::jit
