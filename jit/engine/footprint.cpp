// Footprints of calls, by the way that a call takes to its code.
#include "jit/footprint.h"

#include <fmt/format.h>

#include "ir/calls/foreign_calls.h"
#include "ir/calls/prim_arguments.h"
#include "jit/engine/code_cache.h"
#include "jit/engine/teams.h"
#include "jit/footprint/footprint_of.h"
#include "jit/jit.h"
#include "loops/prim_calls.h"
#include "support/big_stack.h"
#include "support/suggest.h"

namespace relish {

Footprint footprint_of(const ModulePtr& given, std::string_view name, const std::vector<Value>& args,
                       int threads, const GivenParams& given_up) {
  using namespace jit;
  if (threads <= 0) threads = usable_processors();
  const ModulePtr module = with_prim_calls_replaced(given, name);
  const GlobalFunction* function = module->find(name);
  if (!function) {
    fail(ErrorClass::Usage, {}, "function.unknown",
         fmt::format("no function '{}' in module {}{}", name, module->name,
                     did_you_mean(name, module->names())));
  }
  CodeCache plans({}, nullptr, Purpose::Plan);
  Footprint found;
  if (const auto* prim = std::get_if<PrimFuncPtr>(function)) {
    require_runnable(**prim);
    const PrimArguments bound = bind_prim_func(**prim, args);
    return footprint_of_prim_func(*plans.compiled(module, name)->plan->kernel, bound.all, threads);
  }
  const auto planned = plans.code_for(module, std::get<FunctionPtr>(*function), args, given_up);
  const FunctionPtr entry = planned->plan->program->lifted.module.function(std::string(name));
  with_big_stack([&] {
    found = footprint_of_steps(*planned->plan->steps, *entry, args, planned->plan->donated, threads);
  });
  return found;
}

}  // namespace relish
