// The kernels of one compilation, each once, in units of code of their own that are compiled beside each
// other.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "jit/engine/engine.h"
#include "jit/kernel/codegen_kernel.h"

namespace relish::jit {

class KernelUnits {
 public:
  KernelUnits(Build& build, const TargetTraits& target, SiteTable& sites)
      : build_(build), target_(target), sites_(sites) {}

  // The kernel of a prim_func, declared in `glue`, which is the same module in all calls.
  llvm::Function* declared(const PrimFunc& function, llvm::Module& glue);
  // Begins to compile what is there.
  void hand_in();

 private:
  Build& build_;
  const TargetTraits& target_;
  SiteTable& sites_;
  std::unique_ptr<CodeUnit> unit_;  // that receives kernels at present
  std::optional<KernelEmitter> emitter_;
  std::size_t instructions_ = 0;  // in it
  std::size_t units_ = 0;         // handed in
  std::unordered_map<const PrimFunc*, llvm::Function*> declared_;
};

}  // namespace relish::jit
