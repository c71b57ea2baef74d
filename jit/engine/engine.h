// The LLVM side of compilation: units of code, each with an LLVM context of its own, are compiled on threads
// beside each other while others are still made, and then linked into memory that is writable or executable,
// never both. LLVM is initialised when the first engine is made. Code that was made before, by this process
// or another one, is taken from a store of objects where there is one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/engine/machine.h"
#include "support/source.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace relish {
class ObjectStore;
}

namespace relish::jit {

class WorkQueue;

// Linked code; its memory is freed with the object. Keep the engine alive longer.
class Code {
 public:
  virtual ~Code() = default;
  // The address of a function by its symbol; InternalError when unknown.
  virtual void* address(std::string_view symbol) const = 0;
};

// An LLVM module that is being made. Its functions are known to other units by external symbols.
struct CodeUnit {
  CodeUnit(const Machine& machine, std::string_view name, Effort effort);
  ~CodeUnit();

  Effort effort;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

class Engine {
 public:
  // None: code is scheduled for this machine; nothing is stored.
  explicit Engine(const std::optional<Target>& target = {}, std::shared_ptr<ObjectStore> store = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const TargetTraits& traits() const;
  const Target& target() const;

 private:
  friend class Build;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One compilation. What is under way when it goes is abandoned.
class Build {
 public:
  explicit Build(Engine& engine);
  ~Build();
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  std::unique_ptr<CodeUnit> new_unit(std::string_view name, Effort effort) const;
  // Begins to compile the unit.
  void add(std::unique_ptr<CodeUnit> unit);
  // Links when all units are compiled. `exported` are looked up by address(); code knows `addresses` by
  // address_symbol. Unresolved symbols other than the runtime's are an InternalError. Failure(Interrupted) at
  // `span` soon after a signal. Not reentrant: one build of an engine at a time.
  std::unique_ptr<Code> finish(const std::vector<std::string>& exported,
                               const std::vector<const void*>& addresses, Span span);

 private:
  Engine& engine_;
  std::unique_ptr<WorkQueue> queue_;
  std::vector<std::shared_ptr<Object>> objects_;
};

}  // namespace relish::jit
