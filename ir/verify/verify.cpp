// The verifier of modules and graph functions.
#include "ir/verify/verify.h"

#include <fmt/format.h>
#include <optional>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/call_layout.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/scalars/symbols.h"
#include "ir/verify/verify_internal.h"
#include "support/failure.h"
#include "support/interrupt.h"

namespace relish {
namespace verifying {
namespace {

// The functions of the module by their names.
using FunctionIndex = std::unordered_map<std::string_view, const GlobalFunction*>;

class FunctionVerifier {
 public:
  FunctionVerifier(const FunctionIndex& functions, const Function& function, Reporter& report)
      : functions_(functions), function_(function), report_(report) {}

  void verify() {
    report_.attributes(function_.attributes, NamePlace::GraphFunction, function_.span);
    for (const Var& param : function_.params) {
      std::vector<ScalarVar> determined;
      collect_determined(param.type(), determined);
      for (const ScalarVar& symbol : determined) symbols_.insert(symbol.id());
      define(param, function_.span);
      if (param.dataflow())
        report_.error(param.span(), "verify.dataflow", parameter(param) + " is a dataflow variable");
    }
    for (const Var& param : function_.params) check_symbols(param.type(), function_.span, parameter(param));
    for (const BindingBlock& block : function_.blocks) verify_block(block);
    const bool forced = find_attribute(function_.attributes, "relax.force_pure") != nullptr;
    if (function_.pure && !forced && is_checked(function_.attributes)) check_pure(function_.blocks);
    check_operand(function_.result, function_.result_span);
    check_expr(function_.result, function_.result_span);
    check_symbols(function_.result_type, function_.span, "the result type");
    if (fits(function_.result.type(), function_.result_type) == Fit::Never) {
      report_.error(function_.result_span, "verify.result",
                    fmt::format("the result has type {}; the function says {}",
                                print(function_.result.type()), print(function_.result_type)));
    }
  }

 private:
  static std::string parameter(const Var& param) { return fmt::format("parameter {}", param.name()); }

  void define(const Var& var, Span span) {
    if (!ever_bound_.insert(var.id()).second) {
      report_.error(span, "verify.rebound", fmt::format("variable {} is bound twice", var.name()));
    }
    visible_.insert(var.id());
  }

  void check_pure(const std::vector<BindingBlock>& blocks) {
    for (const BindingBlock& block : blocks) {
      for (const Binding& binding : block.bindings) {
        if (!has_effects(binding.value())) continue;
        report_.error(binding.span, "verify.purity",
                      fmt::format("the function is pure; {} has effects", binding.var().name()));
      }
    }
  }

  // What is bound in a nested body is invisible behind it; `body` verifies it.
  template <class F>
  void nested(F&& body) {
    const auto visible = visible_;
    const auto symbols = symbols_;
    body();
    visible_ = visible;
    symbols_ = symbols;
  }

  void verify_region(const Region& region, const Binding& holder) {
    for (const Var& param : region.params) define(param, holder.span);
    for (const BindingBlock& block : region.blocks) verify_block(block);
    for (const Expr& result : region.results) {
      check_operand(result, holder.span);
      check_expr(result, holder.span);
    }
  }

  void verify_nested_function(const Function& function, const Binding& holder) {
    report_.attributes(function.attributes, NamePlace::GraphFunction, function.span);
    for (const Var& param : function.params) {
      std::vector<ScalarVar> bound;
      collect_determined(param.type(), bound);
      for (const ScalarVar& symbol : bound) symbols_.insert(symbol.id());
      define(param, function.span);
    }
    enclosing_.push_back(&function);
    for (const BindingBlock& block : function.blocks) verify_block(block);
    if (function.pure && !find_attribute(function.attributes, "relax.force_pure") &&
        is_checked(function.attributes))
      check_pure(function.blocks);
    check_operand(function.result, function.result_span);
    check_expr(function.result, function.result_span);
    enclosing_.pop_back();
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
      check_args({branch->condition}, holder.span);
      nested([&] { verify_region(*branch->then_region, holder); });
      nested([&] { verify_region(*branch->else_region, holder); });
    } else if (const auto* loop = value.as<Loop>()) {
      check_args(loop->initial, holder.span);
      for (const Expr* bound : {&loop->begin, &loop->end, &loop->step})
        if (bound->defined()) check_args({*bound}, holder.span);
      if (loop->condition) nested([&] { verify_region(*loop->condition, holder); });
      nested([&] {
        if (loop->index.defined()) symbols_.insert(loop->index.id());
        verify_region(*loop->body, holder);
      });
    } else if (const auto* function = value.as<FunctionExpr>()) {
      nested([&] {
        visible_.insert(holder.var().id());  // it may call itself
        verify_nested_function(*function->function, holder);
      });
    }
  }

  void verify_block(const BindingBlock& block) {
    for (const Binding& binding : block.bindings) verify_binding(binding, block.dataflow);
    for (const Binding& binding : block.bindings) {
      if (binding.var().dataflow()) visible_.erase(binding.var().id());
    }
  }

  void verify_binding(const Binding& binding, bool dataflow) {
    poll_interrupt(binding.span);
    const Var& var = binding.var();
    const Expr& value = binding.value();
    check_expr(value, binding.span);
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
      check_operand(value, binding.span);
      std::vector<ScalarVar> bound;
      collect_determined(cast->type, bound);
      for (const ScalarVar& symbol : bound) symbols_.insert(symbol.id());
      check_symbols(cast->type, binding.span, "the type of the match_cast");
      given = cast->type;
    }
    check_symbols(var.type(), binding.span, fmt::format("the type of {}", var.name()));
    if (fits(given, var.type()) == Fit::Never) {
      report_.error(binding.span, "verify.type",
                    fmt::format("variable {} has type {}; its value has {}", var.name(), print(var.type()),
                                print(given)));
    }
    define(var, binding.span);
  }

  // Every dimension variable must have its value from a parameter or an earlier match_cast.
  void check_symbol(const ScalarVar& symbol, Span span, std::string_view where) {
    if (symbols_.contains(symbol.id())) return;
    if (!scalars_) scalars_.emplace(function_);
    bool stands_for_parameter =
        scalars_->of(symbol).has_value() ||
        std::any_of(enclosing_.begin(), enclosing_.end(),
                    [&](const Function* nested) { return scalar_parameter_of(*nested, symbol).has_value(); });
    if (!stands_for_parameter) {
      report_.error(
          span, "verify.symbol",
          fmt::format("{} uses dimension {}, which nothing before it determines", where, symbol.name()));
    }
    symbols_.insert(symbol.id());  // one report each
  }
  void check_symbols(const Type& type, Span span, std::string_view where) {
    // A function type has dimension variables of its own.
    if (type.function()) return;
    if (const TupleType* tuple = type.tuple()) {
      for (const Type& field : tuple->fields) check_symbols(field, span, where);
      return;
    }
    std::vector<ScalarVar> vars;
    collect_vars(type, vars);
    for (const ScalarVar& var : vars) check_symbol(var, span, where);
  }
  void check_symbols(const Scalar& scalar, Span span) {
    std::vector<ScalarVar> vars;
    collect_vars(scalar, vars);
    for (const ScalarVar& var : vars) check_symbol(var, span, "an expression");
  }

  void check_operand(const Expr& expr, Span span) {
    if (!is_leaf(expr)) {
      report_.error(span, "verify.operand",
                    fmt::format("operand {} is no leaf; it must be bound first", print(expr)));
    }
  }

  // The expression's parts, then that its recorded type is the inferred one.
  void check_expr(const Expr& expr, Span outer) {
    Span span = expr.span().known() ? expr.span() : outer;
    visit_kind([&](const auto& kind) { check_kind(expr, kind, span); }, expr);
  }

  void check_args(const std::vector<Expr>& args, Span span) {
    for (const Expr& arg : args) {
      check_operand(arg, span);
      check_expr(arg, span);
    }
  }

  void check_kind(const Expr& expr, const VarRef& ref, Span span) {
    if (!visible_.contains(ref.var.id())) {
      bool bound = ever_bound_.contains(ref.var.id());
      report_.error(span, bound ? "verify.dataflow" : "verify.unbound",
                    bound ? fmt::format("dataflow variable {} is used outside its block", ref.var.name())
                          : fmt::format("variable {} is used before it is bound", ref.var.name()));
    }
    check_recorded(expr, ref.var.type(), span);
  }
  void check_kind(const Expr&, const Constant&, Span) {}
  void check_kind(const Expr&, const StringLiteral&, Span) {}
  void check_kind(const Expr&, const ExternFunc&, Span) {}
  // Their bodies are verified where they are bound (verify_bodies).
  void check_kind(const Expr&, const FunctionExpr&, Span) {}
  void check_kind(const Expr&, const If&, Span) {}
  void check_kind(const Expr&, const Loop&, Span) {}
  void check_kind(const Expr&, const PackedCall& node, Span span) {
    check_expr(node.callee, span);
    check_args(node.args, span);
    for (const Type& type : node.out_types) check_symbols(type, span, "a result of a packed call");
    for (const std::int64_t index : node.inplace_indices) check_inplace(index, node.args.size(), span);
  }
  void check_inplace(std::int64_t index, std::size_t args, Span span) {
    if (index >= -1 && index < static_cast<std::int64_t>(args)) return;
    report_.error(span, "verify.inplace",
                  fmt::format("inplace index {} is out of range for {} arguments", index, args));
  }
  void check_kind(const Expr&, const DTypeLiteral&, Span) {}
  void check_kind(const Expr&, const TupleExpr& node, Span span) { check_args(node.fields, span); }
  void check_kind(const Expr&, const ShapeLiteral& node, Span span) {
    for (const Scalar& dim : node.dims) check_symbols(dim, span);
  }
  void check_kind(const Expr&, const ScalarValueExpr& node, Span span) { check_symbols(node.value, span); }

  void check_kind(const Expr& expr, const TupleGet& node, Span span) {
    check_args({node.tuple}, span);
    check_inferred(expr, span, [&] { return tuple_get(node.tuple, node.index, span); });
  }
  void check_kind(const Expr& expr, const OpCall& node, Span span) {
    check_args(node.args, span);
    check_inferred(expr, span, [&] { return op_call(*node.op, node.args, node.attributes, span); });
  }
  void check_kind(const Expr& expr, const FunctionCall& node, Span span) {
    check_expr(node.callee, span);
    check_args(node.args, span);
    check_inferred(expr, span, [&] { return function_call(node.callee, node.args, span); });
  }
  void check_kind(const Expr&, const CallTir& node, Span span) {
    check_expr(node.callee, span);
    check_args(node.args, span);
    for (const Type& type : node.out_types) check_symbols(type, span, "a result of call_tir");
    for (const std::int64_t index : node.inplace_indices) check_inplace(index, node.args.size(), span);
    const GlobalRef* global = node.callee.as<GlobalRef>();
    if (!global) {
      report_.error(span, "verify.callee", "call_tir needs the name of a prim_func");
    } else if (PrimFuncPtr callee = find_prim_func(global->name)) {
      check_layout(*callee, node, span);
    } else if (find(global->name)) {
      report_.error(span, "verify.callee",
                    fmt::format("call_tir calls {}, which is no prim_func", global->name));
    }
  }

  void check_layout(const PrimFunc& callee, const CallTir& call, Span span) {
    try {
      std::vector<ParamSource> sources = call_layout(callee, call, span);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const Type& type = sources[i].kind == ParamSource::Argument ? call.args[sources[i].index].type()
                                                                    : call.out_types[sources[i].index];
        const Buffer* buffer = callee.params[i].buffer();
        if (!buffer || (buffer->is_pointer() && buffer->rank() == 0)) continue;
        TensorType wanted;
        wanted.dtype = buffer->dtype();
        wanted.rank = buffer->rank();
        if (fits(type, Type(std::move(wanted))) != Fit::Never) continue;
        report_.error(span, "verify.call_tir",
                      fmt::format("{} goes to buffer {} of {}, which is {} of rank {}", print(type),
                                  buffer->name(), callee.name, name_of(buffer->dtype()), buffer->rank()));
      }
    } catch (const Failure& failure) {
      report_.error(span, "verify.call_tir", failure.diagnostics().front().message);
    }
  }

  void check_kind(const Expr& expr, const GlobalRef& global, Span span) {
    const GlobalFunction* found = find(global.name);
    if (!found) {
      report_.error(span, "verify.global", fmt::format("the module has no function {}", global.name));
      return;
    }
    // Dimension variables of a function type are its own, so types are compared by what a caller sees.
    const FunctionType* recorded = expr.type().function();
    Type current_type = global_ref(*found, span).type();
    const FunctionType* current = current_type.function();
    bool agree = !recorded == !current || expr.type().as<AnyType>();  // R.Any claims nothing
    if (recorded && current && !recorded->opaque) {
      agree = recorded->params.size() == current->params.size() && recorded->pure == current->pure;
    }
    if (!agree) {
      report_.error(span, "verify.global_type",
                    fmt::format("{} is referred to with type {}; it has {}", global.name, print(expr.type()),
                                print(current_type)));
    }
  }

  template <class Infer>
  void check_inferred(const Expr& expr, Span span, Infer&& infer) {
    try {
      check_recorded(expr, infer().type(), span);
    } catch (const Failure& failure) {
      report_.error(span, "verify.type", failure.diagnostics().front().message);
    }
  }

  void check_recorded(const Expr& expr, const Type& inferred, Span span) {
    if (same_type(expr.type(), inferred)) return;
    report_.error(span, "verify.type",
                  fmt::format("{} is recorded with type {}; inferred is {}", print(expr), print(expr.type()),
                              print(inferred)));
  }

  const GlobalFunction* find(const std::string& name) const {
    auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }
  PrimFuncPtr find_prim_func(const std::string& name) const {
    const GlobalFunction* found = find(name);
    const auto* prim = found ? std::get_if<PrimFuncPtr>(found) : nullptr;
    return prim ? *prim : nullptr;
  }

  const FunctionIndex& functions_;
  const Function& function_;
  Reporter& report_;
  std::vector<const Function*> enclosing_;   // nested functions around what is verified
  std::optional<ScalarParameters> scalars_;  // made when the first symbol is not determined
  std::unordered_set<std::uint64_t> ever_bound_, visible_, symbols_;
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
      verifying::FunctionVerifier(index, **graph, report).verify();
    } else if (prim) {
      verifying::verify_prim_func(**prim, report);
    }
  }
}

void verify_after(const Module& module, std::string_view pass) {
  Diagnostics diagnostics;
  verify(module, diagnostics);
  if (!diagnostics.has_errors()) return;
  const Diagnostic& first = diagnostics.all().front();
  fail(ErrorClass::Internal, first.span, first.id,
       fmt::format("pass '{}' made a module that does not verify: {}", pass, first.message));
}

}  // namespace relish
