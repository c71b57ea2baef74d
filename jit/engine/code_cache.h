// The code that a process has made, by the functions that it was made from: found again for other modules
// that hold the same functions, and for arguments of the same types where a function leaves types open.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "jit/engine/compile.h"
#include "runtime/value.h"

namespace relish::jit {

enum class Purpose {
  Run,
  Watch,  // kernels tell of their runs
  Plan,   // no code is made, only what it would do
};

class CodeCache {
 public:
  // None: code is scheduled for this machine.
  CodeCache(const std::optional<Target>& target, std::shared_ptr<ObjectStore> store, Purpose purpose)
      : target_(target), store_(std::move(store)), purpose_(purpose) {}

  // The code for such arguments of a Relax function, which are checked first.
  std::shared_ptr<const Compiled> code_for(const ModulePtr& module, const FunctionPtr& function,
                                           const std::vector<Value>& args, const GivenParams& given = {});
  // The code of a function of the module, whatever its arguments. `given`: the parameters whose tensors
  // callers give up.
  std::shared_ptr<const Compiled> compiled(const ModulePtr& module, std::string_view name,
                                           const GivenParams& given = {},
                                           UnknownShapes unknown = UnknownShapes::Kept);

 private:
  struct Entry {
    std::vector<const void*> functions;  // identities of what the code was made from
    GivenParams given;
    std::vector<std::weak_ptr<const void>> alive;  // the same, to know when they are gone
    std::shared_ptr<const Compiled> code;
  };
  // The entry of a module's function, so that a repeated call need not look at the functions again.
  struct Recent {
    const Module* module;
    std::weak_ptr<const Module> alive;
    std::string name;
    GivenParams given;
    std::shared_ptr<const Compiled> code;
  };
  // Code for arguments of certain types, of a function whose parameters leave them open.
  struct Variant {
    std::weak_ptr<const Function> function;
    std::string types;
    ModulePtr module;  // holds the specialised function
  };
  static constexpr std::size_t kept = 256;
  static constexpr std::size_t kept_recent = 16;
  static constexpr std::size_t kept_variants = 64;

  Recent* recent(const ModulePtr& module, std::string_view name, const GivenParams& given);
  bool has_variants(const FunctionPtr& function);
  std::shared_ptr<const Compiled> for_arguments(const ModulePtr& module, const FunctionPtr& function,
                                                const std::vector<Value>& args, const GivenParams& given);
  ModulePtr specialised(const ModulePtr& module, const FunctionPtr& function, const std::vector<Value>& args);
  std::shared_ptr<const Compiled> find_or_compile(const ModulePtr& module, std::string_view name,
                                                  const GivenParams& given, UnknownShapes unknown);

  const std::optional<Target> target_;
  const std::shared_ptr<ObjectStore> store_;  // null: nothing outlives the process
  const Purpose purpose_;
  std::mutex mutex_;  // guards compilation and what is kept
  std::unique_ptr<Engine> engine_;
  std::list<Entry> entries_;
  std::vector<Recent> recent_;
  std::vector<Variant> variants_;
};

}  // namespace relish::jit
