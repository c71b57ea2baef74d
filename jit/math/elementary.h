// Elementary functions of generated code: small LLVM functions without branches, inlined where they are
// called, so that LLVM's vectorizer widens them with the loop. A lane's bits do not depend on the width.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include "ir/nodes/intrinsic.h"
#include "runtime/dtype.h"

namespace relish::jit {

// The module's function for an intrinsic of float32 or float64, or of a vector of them, made when first asked
// for; null of those that have none, which the C library computes.
llvm::Function* elementary_function(llvm::Module& module, Intrinsic which, llvm::Type* type, bool fma);

// Whether the C library has a function of this name for it.
bool is_library_function(Intrinsic which);
// Whether generated code calls the C library for it: loops with such a call stay scalar.
bool calls_library(Intrinsic which, DType operand);

}  // namespace relish::jit
