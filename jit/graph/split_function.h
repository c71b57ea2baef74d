// A function of any length as a chain of functions of bounded length: LLVM takes time with the square of a
// function's blocks, and code that is not optimized keeps each of its values on the stack.
#pragma once

#include <llvm/IR/Function.h>

#include <span>

#include "jit/engine/runtime_calls.h"

namespace relish::jit {

// `whole` returns a status; its first argument is the context. `cuts` are blocks in the order in which code
// was made, each with one predecessor: all that was made before a cut runs before it and is not returned to.
// Blocks that only return are shared by all. Parts get at least `least` instructions. Values that are needed
// behind a cut go through a frame of the call.
void split_function(llvm::Function& whole, std::span<llvm::BasicBlock* const> cuts, std::size_t least,
                    RuntimeCalls& runtime);

}  // namespace relish::jit
