// Dropping prim_funcs whose calls are gone.
#include "schedule/fusion/unused_functions.h"

#include "ir/rewriting/rewrite.h"

namespace relish {

void drop_unused(Module& module, const std::unordered_set<std::string>& names) {
  if (names.empty()) return;
  std::unordered_set<std::string> used;
  for (const GlobalFunction& each : module.functions) {
    if (const auto* function = std::get_if<FunctionPtr>(&each)) {
      for (const std::string& name : global_references(**function)) used.insert(name);
    } else if (const auto* prim_func = std::get_if<PrimFuncPtr>(&each);
               prim_func && (*prim_func)->body.defined()) {
      for_each_scalar((*prim_func)->body, [&](const Scalar& scalar) {
        if (const auto* call = scalar.as<ForeignCall>()) used.insert(call->function);
      });
    }
  }
  module.functions.remove_if([&](const GlobalFunction& each) {
    const auto* function = std::get_if<PrimFuncPtr>(&each);
    return function && (*function)->is_private && names.contains((*function)->name) &&
           !used.contains((*function)->name);
  });
}

}  // namespace relish
