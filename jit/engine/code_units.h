// Units of code on their way to linking, and who takes them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/engine/machine.h"
#include "jit/engine/sites.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace relish::jit {

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

class CodeUnits {
 public:
  virtual ~CodeUnits() = default;
  virtual std::unique_ptr<CodeUnit> new_unit(std::string_view name, Effort effort) const = 0;
  virtual void add(std::unique_ptr<CodeUnit> unit) = 0;
  // Of what is emitted with all effort, if it has to be. `sites` are told when that is done.
  virtual void add(std::shared_ptr<const UnitSource> source, std::shared_ptr<UnitSites> sites) = 0;
};

}  // namespace relish::jit
