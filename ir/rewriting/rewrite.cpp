// Rewriting and walking of graph code.
#include "ir/rewriting/rewrite.h"

#include <algorithm>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/regions.h"
#include "ir/scalars/symbols.h"
#include "support/interrupt.h"

namespace relish {
namespace {

class GraphSubstitution : public ExprMapper {
 public:
  GraphSubstitution(const VarMap& vars, const ScalarMap& scalars) : vars_(vars), scalars_(scalars) {}

 protected:
  Expr map_var(const Expr& expr, const Var& var) override {
    auto found = vars_.find(var.id());
    return found == vars_.end() ? expr : found->second;
  }
  Type map_type(const Type& type) override { return substitute(type, scalars_); }
  Scalar map_scalar(const Scalar& scalar) override { return substitute(scalar, scalars_); }

 private:
  const VarMap& vars_;
  const ScalarMap& scalars_;
};

}  // namespace

Expr substitute(const Expr& expr, const VarMap& vars, const ScalarMap& scalars) {
  if (vars.empty() && scalars.empty()) return expr;
  return GraphSubstitution(vars, scalars).map(expr);
}

FunctionPtr substitute(const FunctionPtr& function, const VarMap& vars, const ScalarMap& scalars) {
  if (vars.empty() && scalars.empty()) return function;
  return GraphSubstitution(vars, scalars).map(function);
}

Binding substitute(const Binding& binding, const VarMap& vars, const ScalarMap& scalars) {
  Binding result = binding;
  std::visit(
      [&](auto& kind) {
        kind.value = substitute(kind.value, vars, scalars);
        if constexpr (requires { kind.type; }) kind.type = substitute(kind.type, scalars);
        auto found = vars.find(kind.var.id());
        if (found != vars.end() && found->second.as_var()) {
          kind.var = *found->second.as_var();
          return;
        }
        Type type = substitute(kind.var.type(), scalars);
        if (!type.same_as(kind.var.type())) {
          kind.var = Var(kind.var.name(), std::move(type), kind.var.dataflow(), kind.var.span());
        }
      },
      result.kind);
  return result;
}

namespace {

// Copies a function binding by binding: what a type or a value mentions has its new identity before it is
// reached.
class FreshCopy final : public GraphSubstitution {
 public:
  explicit FreshCopy(VarMap* renamed)
      : GraphSubstitution(renamed ? *renamed : own_, scalars_), vars_(renamed ? *renamed : own_) {
    vars_.clear();
  }

  Function copy(const Function& function) {
    Function result = function;
    // A symbol that a parameter of its name stands for may be met in a value before any type mentions it.
    for_each_symbol(function, [&](const ScalarVar& symbol) { rename(symbol); });
    for (Var& param : result.params) param = fresh(param);
    map_blocks(result.blocks);
    result.result = map(function.result);
    rename_symbols(function.result_type);
    result.result_type = substitute(function.result_type, scalars_);
    return result;
  }

 protected:
  Var map_bound(const Var& var) override {
    rename_symbols(var.type());
    return fresh(var);
  }
  ScalarVar map_index(const ScalarVar& index) override {
    ScalarVar copy(index.name(), index.dtype(), index.span());
    scalars_.insert_or_assign(index.id(), use(copy));
    return copy;
  }
  void enter_type(const Type& type) override { rename_symbols(type); }

 private:
  void rename_symbols(const Type& type) {
    symbols_.clear();
    collect_vars(type, symbols_);
    for (const ScalarVar& symbol : symbols_) rename(symbol);
  }

  void rename(const ScalarVar& symbol) {
    if (scalars_.contains(symbol.id())) return;
    scalars_.emplace(symbol.id(), use(ScalarVar(symbol.name(), symbol.dtype(), symbol.span())));
  }

  Var fresh(const Var& var) {
    Var copy(var.name(), substitute(var.type(), scalars_), var.dataflow(), var.span());
    vars_.insert_or_assign(var.id(), Expr(copy));
    return copy;
  }

  VarMap own_;
  VarMap& vars_;
  ScalarMap scalars_;
  std::vector<ScalarVar> symbols_;
};

}  // namespace

Function copy_with_fresh_vars(const Function& function, VarMap* renamed) {
  return FreshCopy(renamed).copy(function);
}

void for_each_expr(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  visit_kind(
      [&](const auto& kind) {
        using K = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<K, TupleExpr>) {
          for (const Expr& field : kind.fields) for_each_expr(field, visit);
        } else if constexpr (std::is_same_v<K, TupleGet>) {
          for_each_expr(kind.tuple, visit);
        } else if constexpr (std::is_same_v<K, FunctionCall> || std::is_same_v<K, CallTir> ||
                             std::is_same_v<K, PackedCall>) {
          for_each_expr(kind.callee, visit);
          for (const Expr& arg : kind.args) for_each_expr(arg, visit);
        } else if constexpr (std::is_same_v<K, OpCall>) {
          for (const Expr& arg : kind.args) for_each_expr(arg, visit);
        } else if constexpr (std::is_same_v<K, FunctionExpr>) {
          for_each_expr(*kind.function, visit);
        } else if constexpr (std::is_same_v<K, If>) {
          for_each_expr(kind.condition, visit);
          for_each_expr(*kind.then_region, visit);
          for_each_expr(*kind.else_region, visit);
        } else if constexpr (std::is_same_v<K, Loop>) {
          for (const Expr* bound : {&kind.begin, &kind.end, &kind.step})
            if (bound->defined()) for_each_expr(*bound, visit);
          for (const Expr& value : kind.initial) for_each_expr(value, visit);
          if (kind.condition) for_each_expr(*kind.condition, visit);
          for_each_expr(*kind.body, visit);
        }
      },
      expr);
  visit(expr);
}

namespace {

void for_each_expr(const std::vector<BindingBlock>& blocks, const std::function<void(const Expr&)>& visit) {
  for (const BindingBlock& block : blocks) {
    for (const Binding& binding : block.bindings) {
      poll_interrupt(binding.span);
      for_each_expr(binding.value(), visit);
    }
  }
}

}  // namespace

void for_each_expr(const Region& region, const std::function<void(const Expr&)>& visit) {
  for_each_expr(region.blocks, visit);
  for (const Expr& result : region.results) for_each_expr(result, visit);
}

void for_each_expr(const Function& function, const std::function<void(const Expr&)>& visit) {
  for_each_expr(function.blocks, visit);
  for_each_expr(function.result, visit);
}

void for_each_binding(const Binding& binding, const std::function<void(const Binding&)>& visit) {
  poll_interrupt(binding.span);
  for_each_body(binding.value(), [&](const Body& body) {
    for (const BindingBlock& block : body.blocks)
      for (const Binding& each : block.bindings) for_each_binding(each, visit);
  });
  visit(binding);
}

void for_each_binding(const Function& function, const std::function<void(const Binding&)>& visit) {
  for (const BindingBlock& block : function.blocks)
    for (const Binding& binding : block.bindings) for_each_binding(binding, visit);
}

std::vector<std::string> global_references(const Function& function) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for_each_expr(function, [&](const Expr& expr) {
    const GlobalRef* global = expr.as<GlobalRef>();
    if (global && seen.insert(global->name).second) names.push_back(global->name);
  });
  return names;
}

}  // namespace relish
