// What calls of a kernel must know of it, which needs none of its code.
#pragma once

#include <llvm/IR/DerivedTypes.h>

#include <vector>

#include "ir/nodes/stmt.h"

namespace relish::jit {

// The hidden parameters of a kernel: symbolic dims of a prim_func that are no scalar parameters, in order of
// first use in the buffer shapes.
std::vector<ScalarVar> kernel_symbols(const PrimFunc& function);

// Of an integer in a register.
unsigned bits_of(DType dtype);
// Of values in registers; the halves travel as float.
llvm::Type* register_type(DType dtype, llvm::LLVMContext& context);

// Parameters: the context; a pointer for each buffer and a value for each scalar parameter; kernel_symbols as
// int64; the address of the result, of a function that returns a scalar.
llvm::FunctionType* kernel_type(const PrimFunc& function, llvm::LLVMContext& context);

}  // namespace relish::jit
