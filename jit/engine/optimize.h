// LLVM's passes over the code of a unit.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace relish::jit {

// What straight loops need and no more: compilation is part of the user's waiting.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace relish::jit
