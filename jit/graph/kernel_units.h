// The kernels of one compilation, each once, in units of code of their own. A unit is known by the text of
// its kernels: they are emitted on the threads of the build, and only when the store does not have their
// code.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "jit/engine/code_units.h"
#include "jit/engine/sites.h"

namespace llvm {
class Function;
}

namespace relish::jit {

class KernelUnits {
 public:
  KernelUnits(CodeUnits& taker, SiteTable& sites) : taker_(taker), sites_(sites) {}

  // The kernel of a prim_func, declared in `glue`, which is the same module in all calls.
  llvm::Function* declared(const PrimFunc& function, llvm::Module& glue);
  // Begins to compile what is there.
  void hand_in();

 private:
  CodeUnits& taker_;
  SiteTable& sites_;
  std::vector<PrimFuncPtr> unit_;  // its kernels, at present
  std::int64_t size_ = 0;          // of their code
  std::size_t units_ = 0;          // handed in
  std::unordered_map<const PrimFunc*, llvm::Function*> declared_;
};

}  // namespace relish::jit
