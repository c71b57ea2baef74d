// Integer arithmetic as code, the same for sizes of graph functions and scalars of prim_funcs. Faults (by
// zero, by a negative shift) are checked before.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "ir/nodes/scalar.h"

namespace relish::jit {

// Div, TruncMod, FloorDiv or FloorMod. The least integer divided by -1 wraps, where the machine would trap.
// `positive`: the divisor is known to be.
llvm::Value* divided(llvm::IRBuilder<>& builder, BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed,
                     bool positive);
// ShiftLeft or ShiftRight of numbers of `width` bits: by the width or more leaves 0, or the sign.
llvm::Value* shifted(llvm::IRBuilder<>& builder, BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed,
                     unsigned width);
llvm::Value* compared(llvm::IRBuilder<>& builder, CompareOp op, llvm::Value* a, llvm::Value* b,
                      bool is_signed);

}  // namespace relish::jit
