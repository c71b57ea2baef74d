// The machine that code is made for, and LLVM's translation of a module into an object file in memory.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit/engine/runtime_calls.h"
#include "jit/kernel_code.h"
#include "schedule/target.h"

namespace llvm {
class Target;
class TargetMachine;
}  // namespace llvm

namespace relish::jit {

// Optimized machine code of a module, as an object file in memory.
using Object = llvm::SmallVector<char, 0>;

enum class Effort {
  Translate,  // instruction by instruction, in linear time: for code in which nothing is gained
  Optimize,
};

// The machine that this process runs on. LLVM is initialised with the first one.
class Machine {
 public:
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const TargetTraits& traits() const { return traits_; }
  const std::string& processor() const { return cpu_; }
  // What a module says of its target.
  const std::string& module_triple() const { return module_triple_; }
  const std::string& data_layout() const { return data_layout_; }
  // All that code depends on of the machine that it is made for.
  std::string identity() const { return triple_ + " " + cpu_ + " " + features_; }
  const Target& scheduled_for() const { return target_for_schedules_; }
  // May be called from several threads at once. InternalError when the module is not well formed.
  Object object_of(llvm::Module& module, Effort effort) const;
  // What object_of would make of it with all effort, as text.
  std::string text_of(llvm::Module& module, CodeForm form) const;

 private:
  // A target machine of one thread for some time. To make one takes as long as many a unit of code, so it is
  // kept for the next one.
  class Lent;

  std::unique_ptr<llvm::TargetMachine> target_machine(Effort effort) const;

  const llvm::Target* target_ = nullptr;
  std::string triple_, cpu_, features_;
  std::string module_triple_, data_layout_;
  TargetTraits traits_;
  Target target_for_schedules_;
  mutable std::mutex mutex_;                                                       // guards what follows
  mutable std::array<std::vector<std::unique_ptr<llvm::TargetMachine>>, 2> idle_;  // by effort
};

}  // namespace relish::jit
