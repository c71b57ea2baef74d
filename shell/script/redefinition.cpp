// Re-inference of callers after a redefinition, over the IR: bindings are rebuilt in order with the new
// types.
#include "shell/script/redefinition.h"

#include <algorithm>

#include "ir/printer/printer.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"

namespace relish {
namespace {

bool calls(const GlobalFunction& caller, std::string_view callee) {
  const auto* graph = std::get_if<FunctionPtr>(&caller);
  if (!graph) return false;
  std::vector<std::string> references = global_references(**graph);
  return std::find(references.begin(), references.end(), callee) != references.end();
}

// Rebuilds a function so that every type follows from the functions of `module` as they are now.
class Reinference {
 public:
  explicit Reinference(const Module& module) : module_(module) {}

  Function run(const Function& function) {
    Function result = function;
    for (BindingBlock& block : result.blocks) {
      for (Binding& binding : block.bindings) binding = rebuilt(binding);
    }
    result.result = rebuilt(function.result);
    if (fits(result.result.type(), function.result_type) == Fit::Never) {
      fail(ErrorClass::Type, function.result_span, "return.type",
           fmt::format("found a result of type {}; expected {}", print(result.result.type()),
                       print(function.result_type)));
    }
    return result;
  }

 private:
  Binding rebuilt(const Binding& binding) {
    Binding result = binding;
    if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
      result.kind = MatchCast{cast->var, rebuilt(cast->value), cast->type};
      return result;
    }
    const auto& bound = std::get<VarBinding>(binding.kind);
    Expr value = rebuilt(bound.value);
    if (value.same_as(bound.value)) return result;
    if (binding.annotated) {
      if (fits(value.type(), bound.var.type()) == Fit::Never) {
        fail(ErrorClass::Type, binding.span, "binding.type",
             fmt::format("'{}' is declared as {}, found {}", bound.var.name(), print(bound.var.type()),
                         print(value.type())));
      }
      result.kind = VarBinding{bound.var, value};
      return result;
    }
    if (same_type(value.type(), bound.var.type())) {
      result.kind = VarBinding{bound.var, value};
      return result;
    }
    Var fresh(bound.var.name(), value.type(), bound.var.dataflow(), bound.var.span());
    vars_[bound.var.id()] = fresh;
    result.kind = VarBinding{fresh, value};
    return result;
  }

  Expr rebuilt(const Expr& expr) {
    Expr replaced = vars_.empty() ? expr : substitute(expr, vars_);
    if (const auto* call = replaced.as<FunctionCall>()) {
      const auto* callee = call->callee.as<GlobalRef>();
      const GlobalFunction* function = callee ? module_.find(callee->name) : nullptr;
      if (function)
        return function_call(global_ref(*function, call->callee.span()), call->args, replaced.span());
    }
    if (const auto* call = replaced.as<CallTir>()) {
      const auto* callee = call->callee.as<GlobalRef>();
      const GlobalFunction* function = callee ? module_.find(callee->name) : nullptr;
      if (function) {
        return call_tir(global_ref(*function, call->callee.span()), call->args, call->out_types,
                        call->tuple_result, replaced.span());
      }
    }
    return replaced;
  }

  const Module& module_;
  VarMap vars_;
};

}  // namespace

ModulePtr with_functions(const Module& module, const std::vector<GlobalFunction>& functions, Span span) {
  Module result = module;
  std::vector<std::string> changed;
  std::vector<std::string> given;
  for (const GlobalFunction& function : functions) {
    if (module.find(name_of(function))) changed.push_back(name_of(function));
    given.push_back(name_of(function));
    result.set(function);
  }
  // Callers of what changed, then theirs, each once. The given functions were read against the new
  // definitions.
  for (std::size_t i = 0; i < changed.size(); ++i) {
    for (const GlobalFunction& candidate : std::vector<GlobalFunction>(result.functions)) {
      const std::string& name = name_of(candidate);
      auto among = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      if (among(changed) || among(given) || !calls(candidate, changed[i])) continue;
      try {
        const Function& caller = *std::get<FunctionPtr>(candidate);
        result.set(std::make_shared<const Function>(Reinference(result).run(caller)));
        Diagnostics diagnostics;
        verify(result, diagnostics);
        throw_if_errors(diagnostics);
      } catch (const Failure& failure) {
        fail(ErrorClass::Type, span, "redefinition.caller",
             fmt::format("the new '{}' does not fit its caller '{}', so the old one stays", changed[i], name),
             {{failure.diagnostics().front().span, failure.diagnostics().front().message}});
      }
      changed.push_back(name);
    }
  }
  return std::make_shared<const Module>(std::move(result));
}

}  // namespace relish
