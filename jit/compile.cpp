// The pipeline of compilation.
#include "jit/compile.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>

#include "ir/direct_calls.h"
#include "ir/rewrite.h"
#include "jit/codegen_graph.h"
#include "jit/compilable.h"
#include "transform/legalize.h"
#include "transform/lift_bodies.h"

namespace relish::jit {

std::vector<GlobalFunction> reachable_functions(const Module& module, std::string_view name) {
  const GlobalFunction* entry = module.find(name);
  RELISH_CHECK(entry != nullptr, std::string(name));
  std::vector<GlobalFunction> reached{*entry};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&reached[i]);
    if (!function) continue;
    for (const std::string& callee : global_references(**function)) {
      const bool known = std::any_of(reached.begin(), reached.end(),
                                     [&](const GlobalFunction& f) { return name_of(f) == callee; });
      const GlobalFunction* found = module.find(callee);
      if (!known && found) reached.push_back(*found);
    }
  }
  return reached;
}

std::shared_ptr<const Compiled> compile(Engine& engine, const Module& module,
                                        const std::vector<GlobalFunction>& functions, UnknownShapes unknown) {
  require_compilable(functions);
  auto compiled = std::make_shared<Compiled>();
  Module part;
  part.name = module.name;
  part.functions = functions;
  llvm::LLVMContext context;
  const std::string name = name_of(functions.front());
  std::unique_ptr<llvm::Module> code = engine.new_module(context, name);
  llvm::Function* entry = nullptr;
  compiled->direct = calls_directly(part, name);
  if (const auto* prim = std::get_if<PrimFuncPtr>(&functions.front())) {
    GraphEmitter emitter(part, *code, engine.traits(), compiled->sites);
    entry = emitter.entry_of(**prim);
  } else {
    const Module lowered = legalize(lift_bodies(part), unknown);
    const FunctionPtr function = lowered.function(name);
    GraphEmitter emitter(lowered, *code, engine.traits(), compiled->sites, &compiled->host_calls);
    entry = emitter.function(*function);
    compiled->values = emitter.values(*function);
    for (const GlobalFunction& each : lowered.functions) {
      const auto* graph = std::get_if<FunctionPtr>(&each);
      if (!graph) continue;
      compiled->recursive =
          compiled->recursive || find_attribute((*graph)->attributes, recursive_function) != nullptr;
      for_each_expr(**graph, [&](const Expr& expr) {
        // Function values may call each other without end.
        const auto* call = expr.as<FunctionCall>();
        compiled->recursive = compiled->recursive || (call && !call->callee.as<GlobalRef>());
        if (const auto* constant = expr.as<Constant>()) compiled->constants.push_back(constant->value);
      });
    }
  }
  const std::string symbol = entry->getName().str();
  compiled->code = engine.compile(*code, {symbol});
  compiled->entry = reinterpret_cast<EntryFn>(compiled->code->address(symbol));
  return compiled;
}

}  // namespace relish::jit
