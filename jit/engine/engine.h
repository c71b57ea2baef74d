// The LLVM side of compilation: units of code, each with an LLVM context of its own, are compiled on threads
// beside each other while others are still made, and then linked into memory that is writable or executable,
// never both. LLVM is initialised when the first engine is made. Code that was made before, by this process
// or another one, is taken from a store of objects where there is one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jit/engine/code_units.h"
#include "jit/engine/machine.h"
#include "jit/engine/sites.h"
#include "support/source.h"

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

class Engine {
 public:
  // None: code is scheduled for this machine; nothing is stored.
  explicit Engine(const std::optional<Target>& target = {}, std::shared_ptr<ObjectStore> store = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Target& target() const;
  const Machine& machine() const;
  // Or null.
  const std::shared_ptr<ObjectStore>& store() const;

 private:
  friend class Build;
  friend class UncompiledUnits;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One compilation. What is under way when it goes is abandoned.
class Build final : public CodeUnits {
 public:
  explicit Build(Engine& engine);
  ~Build() override;
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  std::unique_ptr<CodeUnit> new_unit(std::string_view name, Effort effort) const override;
  // Begins to compile the unit.
  void add(std::unique_ptr<CodeUnit> unit) override;
  void add(std::shared_ptr<const UnitSource> source, std::shared_ptr<UnitSites> sites) override;
  // A unit that another build made and the store has by this key; `has_sites`: it was made of a source.
  void add_kept(const std::string& key, bool has_sites);
  // Waits for all units that were added: whether the store had those it was asked for. Failure as finish.
  bool all_found(Span span);
  // By units in the order in which they were added, when all are compiled: their keys in the store; none of a
  // unit that is not there.
  std::vector<std::optional<std::string>> keys() const;
  // Links when all units are compiled. `exported` are looked up by address(); code knows the addresses of
  // `sites` by address_symbol, and the first number of a unit's by its symbol. Unresolved symbols other than
  // the runtime's are an InternalError. Failure(Interrupted) at `span` soon after a signal. Not reentrant:
  // one build of an engine at a time.
  std::unique_ptr<Code> finish(const std::vector<std::string>& exported, SiteTable& sites, Span span);

 private:
  struct Part;
  template <class F>
  void make(F made);

  Engine& engine_;
  std::unique_ptr<WorkQueue> queue_;
  std::vector<std::shared_ptr<Part>> parts_;
};

// Takes units and compiles none of them: for what else is known when code is emitted.
class UncompiledUnits final : public CodeUnits {
 public:
  explicit UncompiledUnits(Engine& engine) : engine_(engine) {}
  std::unique_ptr<CodeUnit> new_unit(std::string_view name, Effort effort) const override;
  void add(std::unique_ptr<CodeUnit> unit) override;
  // The sites are found by emitting the source when somebody asks for them.
  void add(std::shared_ptr<const UnitSource> source, std::shared_ptr<UnitSites> sites) override;

 private:
  Engine& engine_;
};

}  // namespace relish::jit
