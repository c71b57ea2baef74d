// The verifier of modules and graph functions.
#include "ir/verify/verify.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/calls/roles.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/verify/expr_checker.h"
#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {
namespace verifying {
namespace {

class FunctionVerifier {
 public:
  // `checked_module`: the text did not renounce the check of what functions promise of their effects.
  FunctionVerifier(const FunctionIndex& functions, bool checked_module, const Function& function,
                   Reporter& report)
      : checked_module_(checked_module),
        function_(function),
        report_(report),
        scope_(function, report),
        exprs_(functions, scope_, report) {}

  void verify() {
    report_.attributes(function_.attributes, NamePlace::GraphFunction, function_.span);
    if (const auto fault = role_fault(function_))
      report_.error(function_.span, "verify.role", fmt::format("{}: {}", role_attribute, *fault));
    for (const Var& param : function_.params) {
      scope_.determine(param.type());
      scope_.define(param, function_.span);
      if (param.dataflow())
        report_.error(param.span(), "verify.dataflow", parameter(param) + " is a dataflow variable");
    }
    for (const Var& param : function_.params)
      scope_.check_symbols(param.type(), function_.span, parameter(param));
    for (const BindingBlock& block : function_.blocks) verify_block(block);
    check_promised_purity(function_);
    exprs_.check_operand(function_.result, function_.result_span);
    exprs_.check(function_.result, function_.result_span);
    scope_.check_symbols(function_.result_type, function_.span, "the result type");
    if (fits(function_.result.type(), function_.result_type) == Fit::Never) {
      report_.error(function_.result_span, "verify.result",
                    fmt::format("the result has type {}; the function says {}",
                                print(function_.result.type()), print(function_.result_type)));
    }
  }

 private:
  static std::string parameter(const Var& param) { return fmt::format("parameter {}", param.name()); }

  void check_promised_purity(const Function& function) {
    const bool forced = find_attribute(function.attributes, "relax.force_pure") != nullptr;
    if (!function.pure || forced || !checked_module_ || !is_checked(function.attributes)) return;
    for (const BindingBlock& block : function.blocks) {
      for (const Binding& binding : block.bindings) {
        if (!has_effects(binding.value())) continue;
        report_.error(binding.span, "verify.purity",
                      fmt::format("the function is pure; {} has effects", binding.var().name()));
      }
    }
  }

  void verify_region(const Region& region, const Binding& holder) {
    for (const Var& param : region.params) scope_.define(param, holder.span);
    for (const BindingBlock& block : region.blocks) verify_block(block);
    for (const Expr& result : region.results) {
      exprs_.check_operand(result, holder.span);
      exprs_.check(result, holder.span);
    }
  }

  void verify_nested_function(const Function& function, const Binding& holder) {
    report_.attributes(function.attributes, NamePlace::GraphFunction, function.span);
    for (const Var& param : function.params) {
      scope_.determine(param.type());
      scope_.define(param, function.span);
    }
    for (const BindingBlock& block : function.blocks) verify_block(block);
    check_promised_purity(function);
    exprs_.check_operand(function.result, function.result_span);
    exprs_.check(function.result, function.result_span);
    if (fits(function.result.type(), function.result_type) == Fit::Never) {
      report_.error(holder.span, "verify.result",
                    fmt::format("the result of {} has type {}; it says {}", function.name,
                                print(function.result.type()), print(function.result_type)));
    }
  }

  // Values that hold bodies of their own.
  void verify_bodies(const Expr& value, const Binding& holder, bool dataflow) {
    const bool control = value.as<If>() || value.as<Loop>();
    if (control && dataflow) {
      report_.error(holder.span, "verify.dataflow", "control flow stands inside a dataflow block");
    }
    if (const auto* branch = value.as<If>()) {
      exprs_.check_operands({branch->condition}, holder.span);
      scope_.nested([&] { verify_region(*branch->then_region, holder); });
      scope_.nested([&] { verify_region(*branch->else_region, holder); });
    } else if (const auto* loop = value.as<Loop>()) {
      exprs_.check_operands(loop->initial, holder.span);
      for (const Expr* bound : {&loop->begin, &loop->end, &loop->step})
        if (bound->defined()) exprs_.check_operands({*bound}, holder.span);
      if (loop->condition) scope_.nested([&] { verify_region(*loop->condition, holder); });
      scope_.nested([&] {
        if (loop->index.defined()) scope_.determine(loop->index);
        verify_region(*loop->body, holder);
      });
    } else if (const auto* function = value.as<FunctionExpr>()) {
      scope_.nested(*function->function, [&] {
        scope_.show(holder.var());  // it may call itself
        verify_nested_function(*function->function, holder);
      });
    }
  }

  void verify_block(const BindingBlock& block) {
    for (const Binding& binding : block.bindings) verify_binding(binding, block.dataflow);
    for (const Binding& binding : block.bindings) {
      if (binding.var().dataflow()) scope_.hide(binding.var());
    }
  }

  void verify_binding(const Binding& binding, bool dataflow) {
    poll_interrupt(binding.span);
    const Var& var = binding.var();
    const Expr& value = binding.value();
    exprs_.check(value, binding.span);
    verify_bodies(value, binding, dataflow);
    if (dataflow && has_effects(value)) {
      report_.error(binding.span, "verify.dataflow",
                    fmt::format("{} has effects and stands in a dataflow block", var.name()));
    }
    if (var.dataflow() && !dataflow) {
      report_.error(binding.span, "verify.dataflow",
                    fmt::format("dataflow variable {} is bound outside a dataflow block", var.name()));
    }
    Type given = value.type();
    if (const MatchCast* cast = std::get_if<MatchCast>(&binding.kind)) {
      exprs_.check_operand(value, binding.span);
      scope_.determine(cast->type);
      scope_.check_symbols(cast->type, binding.span, "the type of the match_cast");
      given = cast->type;
    }
    scope_.check_symbols(var.type(), binding.span, fmt::format("the type of {}", var.name()));
    if (fits(given, var.type()) == Fit::Never) {
      report_.error(binding.span, "verify.type",
                    fmt::format("variable {} has type {}; its value has {}", var.name(), print(var.type()),
                                print(given)));
    }
    scope_.define(var, binding.span);
  }

  const bool checked_module_;
  const Function& function_;
  Reporter& report_;
  GraphScope scope_;
  ExprChecker exprs_;
};

}  // namespace
}  // namespace verifying

void verify(const Module& module, Diagnostics& diagnostics) {
  std::unordered_set<std::string> names;
  verifying::FunctionIndex index;
  for (const GlobalFunction& function : module.functions) index.emplace(name_of(function), &function);
  for (const GlobalFunction& function : module.functions) {
    verifying::Reporter report(diagnostics, name_of(function));
    const FunctionPtr* graph = std::get_if<FunctionPtr>(&function);
    const PrimFuncPtr* prim = std::get_if<PrimFuncPtr>(&function);
    Span span = std::visit([](const auto& held) { return held->span; }, function);
    if (!names.insert(name_of(function)).second)
      report.error(span, "verify.duplicate", "the module has this name twice");
    if (graph) {
      verifying::FunctionVerifier(index, module.check_well_formed, **graph, report).verify();
    } else if (prim) {
      verifying::verify_prim_func(**prim, report);
    }
  }
}

namespace {

void fail_after(std::string_view pass, const Diagnostics& diagnostics) {
  if (!diagnostics.has_errors()) return;
  const Diagnostic& first = diagnostics.all().front();
  fail(ErrorClass::Internal, first.span, first.id,
       fmt::format("pass '{}' made a module that does not verify: {}", pass, first.message));
}

}  // namespace

void verify_after(const Module& module, std::string_view pass) {
  Diagnostics diagnostics;
  verify(module, diagnostics);
  fail_after(pass, diagnostics);
}

void verify_after(const PrimFunc& function, std::string_view pass) {
  Diagnostics diagnostics;
  verifying::Reporter report(diagnostics, function.name);
  verifying::verify_prim_func(function, report);
  fail_after(pass, diagnostics);
}

}  // namespace relish
