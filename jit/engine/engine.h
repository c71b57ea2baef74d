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
#include "jit/engine/sites.h"
#include "support/source.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace relish {
class ObjectStore;
class WorkQueue;
}  // namespace relish

namespace relish::jit {

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

// What the code of a unit is made of. It is told from others by its text, so that code which the store has is
// not even emitted.
class UnitSource {
 public:
  virtual ~UnitSource() = default;
  // All that decides the code beside the machine and this program.
  virtual std::string text() const = 0;
  // Fills the module; the sites of the code, numbered from 0.
  virtual std::vector<Site> emit(llvm::Module& module, const TargetTraits& target) const = 0;
};

class Engine {
 public:
  // None: code is scheduled for this machine; nothing is stored.
  explicit Engine(const std::optional<Target>& target = {}, std::shared_ptr<ObjectStore> store = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

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
  // Likewise of what is emitted with all effort, if it has to be. `sites` are told when that is done.
  void add(std::shared_ptr<const UnitSource> source, std::shared_ptr<UnitSites> sites);
  // Links when all units are compiled. `exported` are looked up by address(); code knows the addresses of
  // `sites` by address_symbol, and the first number of a unit's by its symbol. Unresolved symbols other than
  // the runtime's are an InternalError. Failure(Interrupted) at `span` soon after a signal. Not reentrant:
  // one build of an engine at a time.
  std::unique_ptr<Code> finish(const std::vector<std::string>& exported, SiteTable& sites, Span span);

 private:
  Engine& engine_;
  std::unique_ptr<WorkQueue> queue_;
  std::vector<std::shared_ptr<Object>> objects_;
};

}  // namespace relish::jit
