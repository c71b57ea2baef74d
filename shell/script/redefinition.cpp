// Re-inference of callers after a redefinition, over the IR: bindings are rebuilt in order with the new
// types.
#include "shell/script/redefinition.h"

#include <algorithm>

#include "ir/printer/printer.h"
#include "ir/rewriting/expr_mapper.h"
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
class Reinference final : public ExprMapper {
 public:
  explicit Reinference(const Module& module) : module_(module) {}

  FunctionPtr run(const FunctionPtr& function) {
    FunctionPtr result = map(function);
    if (fits(result->result.type(), function->result_type) == Fit::Never) {
      fail(ErrorClass::Type, function->result_span, "return.type",
           fmt::format("found a result of type {}; expected {}", print(result->result.type()),
                       print(function->result_type)));
    }
    return result;
  }

 protected:
  Expr map_var(const Expr& expr, const Var& var) override {
    const auto found = vars_.find(var.id());
    return found == vars_.end() ? expr : var_ref(found->second, expr.span());
  }

  Expr map_global(const Expr& expr, const GlobalRef& global) override {
    const GlobalFunction* function = module_.find(global.name);
    return function ? global_ref(*function, expr.span()) : expr;
  }

  // A variable takes the type that its value has now, unless the text gave it one.
  void map_binding(const Binding& binding, bool, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    auto* bound = std::get_if<VarBinding>(&mapped.kind);
    if (bound && !bound->value.same_as(binding.value())) {
      const Var& old = binding.var();
      const Type& type = bound->value.type();
      if (binding.annotated && fits(type, old.type()) == Fit::Never) {
        fail(ErrorClass::Type, binding.span, "binding.type",
             fmt::format("'{}' is declared as {}, found {}", old.name(), print(old.type()), print(type)));
      }
      if (!binding.annotated && !same_type(type, old.type())) {
        bound->var = Var(old.name(), type, old.dataflow(), old.span());
        vars_.insert_or_assign(old.id(), bound->var);
      }
    }
    into.push_back(std::move(mapped));
  }

 private:
  const Module& module_;
  std::unordered_map<std::uint64_t, Var> vars_;  // by the old variable
};

}  // namespace

bool has_same_signature(const GlobalFunction& a, const GlobalFunction& b) {
  const bool graphs = std::holds_alternative<FunctionPtr>(a) && std::holds_alternative<FunctionPtr>(b);
  return graphs && same_type(global_ref(a).type(), global_ref(b).type());
}

ModulePtr with_functions(const Module& module, const std::vector<GlobalFunction>& functions, Span span) {
  Module result = module;
  std::vector<std::string> changed;
  std::vector<std::string> given;
  for (const GlobalFunction& function : functions) {
    const GlobalFunction* before = module.find(name_of(function));
    if (before && !has_same_signature(*before, function)) changed.push_back(name_of(function));
    given.push_back(name_of(function));
    result.set(function);
  }
  // Callers of what changed, then theirs, each once. The given functions were read against the new
  // definitions.
  for (std::size_t i = 0; i < changed.size(); ++i) {
    for (const GlobalFunction& candidate : FunctionList(result.functions)) {
      const std::string& name = name_of(candidate);
      auto among = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      if (among(changed) || among(given) || !calls(candidate, changed[i])) continue;
      try {
        result.set(Reinference(result).run(std::get<FunctionPtr>(candidate)));
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

ModulePtr with_known_functions(const ModulePtr& module, const Module& known) {
  const auto text_of = [](const GlobalFunction& function) {
    if (const auto* graph = std::get_if<FunctionPtr>(&function)) return print(**graph);
    if (const auto* loops = std::get_if<PrimFuncPtr>(&function)) return print(**loops);
    return std::string();
  };
  Module result = *module;
  bool any = false;
  for (const GlobalFunction& function : module->functions) {
    const GlobalFunction* before = known.find(name_of(function));
    if (!before || before->index() != function.index()) continue;
    const std::string text = text_of(function);
    if (text.empty() || text != text_of(*before)) continue;
    result.set(*before);
    any = true;
  }
  return any ? std::make_shared<const Module>(std::move(result)) : module;
}

}  // namespace relish
