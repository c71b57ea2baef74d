// The LLVM side of compilation: the target machine, the passes, and linking into memory that is writable or
// executable, never both. LLVM is initialised when the first engine is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace relish::jit {

struct TargetTraits;

// Linked code; its memory is freed with the object. Keep the engine alive longer.
class Code {
 public:
  virtual ~Code() = default;
  // The address of a function by its symbol; InternalError when unknown.
  virtual void* address(std::string_view symbol) const = 0;
};

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const TargetTraits& traits() const;
  // An empty module set up for this machine.
  std::unique_ptr<llvm::Module> new_module(llvm::LLVMContext& context, std::string_view name) const;
  // Optimizes, generates code and links. Symbols of different modules may be equal. `exported` are looked up
  // by address(). Unresolved symbols other than the runtime's are an InternalError. Not reentrant: one
  // compilation at a time.
  std::unique_ptr<Code> compile(llvm::Module& module, const std::vector<std::string>& exported);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relish::jit
