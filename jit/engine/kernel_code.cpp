// Kernels in units of their own, as text.
#include "jit/kernel_code.h"

#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include <set>
#include <unordered_set>

#include "jit/engine/compile.h"
#include "jit/kernel/codegen_kernel.h"
#include "loops/prim_calls.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "support/suggest.h"

namespace relish {
namespace {

using namespace jit;

struct CalledKernel {
  PrimFuncPtr function;  // scheduled
  Span span;
};

// The kernels that steps call, those of callees behind their own.
class CalledKernels {
 public:
  explicit CalledKernels(ProgramSteps& program) : program_(program) {}

  void function(const Function& source, const step::Donated& donated) {
    if (entered_.insert({&source, donated}).second) list(program_.of(source, donated).steps);
  }

  std::vector<CalledKernel> found;

 private:
  void list(const StepList& steps) {
    for_each_step(steps, [&](const Step& each) {
      if (const auto* n = std::get_if<step::CallKernel>(&each.kind)) {
        if (known_.insert(n->callee.get()).second) found.push_back({n->callee, each.span});
      } else if (const auto* n = std::get_if<Apart<step::CallFunction>>(&each.kind)) {
        function(*(**n).callee, (**n).donated);
      } else if (const auto* n = std::get_if<Apart<step::MakeFunction>>(&each.kind)) {
        function(*(**n).callee, {});
      }
    });
  }

  ProgramSteps& program_;
  std::set<std::pair<const Function*, step::Donated>> entered_;
  std::unordered_set<const PrimFunc*> known_;
};

std::string text_of(const Machine& machine, const PrimFunc& kernel, CodeForm form) {
  CodeUnit unit(machine, kernel.name, Effort::Optimize);
  std::vector<Site> sites;
  KernelEmitter(*unit.module, machine.traits(), sites).emit(kernel, kernel.name);
  return machine.text_of(*unit.module, form);
}

std::vector<CalledKernel> kernels_of(const ModulePtr& module, std::string_view name, const Target& target) {
  const auto reached = plan(target, *module, reachable_functions(*module, name), UnknownShapes::Kept);
  if (reached->plan->kernel) return {{reached->plan->kernel, reached->plan->kernel->span}};
  CalledKernels kernels(*reached->plan->steps);
  kernels.function(*reached->plan->program->lifted.module.function(std::string(name)), {});
  return std::move(kernels.found);
}

}  // namespace

std::vector<KernelCode> kernel_code_of(const ModulePtr& given, std::string_view function, CodeForm form,
                                       std::string_view kernel) {
  const ModulePtr module = with_prim_calls_replaced(given, function);
  if (!module->find(function)) {
    fail(ErrorClass::Usage, {}, "function.unknown",
         fmt::format("no function '{}' in module {}{}", function, module->name,
                     did_you_mean(function, module->names())));
  }
  std::vector<KernelCode> code;
  with_big_stack([&] {
    const Machine machine;
    for (const CalledKernel& each : kernels_of(module, function, machine.scheduled_for())) {
      const bool wanted = kernel.empty() || each.function->name == kernel;
      code.push_back({each.function->name, each.span, wanted ? text_of(machine, *each.function, form) : ""});
    }
  });
  return code;
}

}  // namespace relish
