// Rewriting and walking of graph code.
#include "ir/rewrite.h"

#include <algorithm>
#include <unordered_set>

#include "ir/op.h"

namespace relish {
namespace {

class GraphSubstitution {
 public:
  GraphSubstitution(const VarMap& vars, const ScalarMap& scalars) : vars_(vars), scalars_(scalars) {}

  Expr operator()(const Expr& expr) const {
    return std::visit([&](const auto& kind) { return apply(expr, kind); }, expr.node().kind);
  }

 private:
  Expr apply(const Expr& expr, const VarRef& ref) const {
    auto found = vars_.find(ref.var.id());
    return found == vars_.end() ? expr : found->second;
  }
  Expr apply(const Expr& expr, const Constant&) const { return expr; }
  Expr apply(const Expr& expr, const StringLiteral&) const { return expr; }
  Expr apply(const Expr& expr, const DTypeLiteral&) const { return expr; }
  Expr apply(const Expr& expr, const GlobalRef&) const { return expr; }

  Expr apply(const Expr& expr, const TupleExpr& node) const {
    std::vector<Expr> fields = node.fields;
    return apply_all(fields) ? tuple(std::move(fields), expr.span()) : expr;
  }
  Expr apply(const Expr& expr, const TupleGet& node) const {
    Expr from = (*this)(node.tuple);
    return from.same_as(node.tuple) ? expr : tuple_get(std::move(from), node.index, expr.span());
  }
  Expr apply(const Expr& expr, const OpCall& node) const {
    std::vector<Expr> args = node.args;
    return apply_all(args) ? op_call(*node.op, std::move(args), node.attributes, expr.span()) : expr;
  }
  Expr apply(const Expr& expr, const FunctionCall& node) const {
    Expr callee = (*this)(node.callee);
    std::vector<Expr> args = node.args;
    bool changed = apply_all(args);
    if (!changed && callee.same_as(node.callee)) return expr;
    return function_call(std::move(callee), std::move(args), expr.span());
  }
  Expr apply(const Expr& expr, const CallTir& node) const {
    std::vector<Expr> args = node.args;
    bool changed = apply_all(args);
    std::vector<Type> out_types = node.out_types;
    for (Type& type : out_types) {
      Type replaced = substitute(type, scalars_);
      if (replaced.same_as(type)) continue;
      type = std::move(replaced);
      changed = true;
    }
    if (!changed) return expr;
    return call_tir(node.callee, std::move(args), std::move(out_types), node.tuple_result, expr.span());
  }
  Expr apply(const Expr& expr, const ShapeLiteral& node) const {
    std::vector<Scalar> dims = node.dims;
    bool changed = false;
    for (Scalar& dim : dims) {
      Scalar replaced = substitute(dim, scalars_);
      if (replaced.same_as(dim)) continue;
      dim = canonical(replaced);
      changed = true;
    }
    return changed ? shape_literal(std::move(dims), expr.span()) : expr;
  }
  Expr apply(const Expr& expr, const ScalarValueExpr& node) const {
    Scalar value = substitute(node.value, scalars_);
    if (value.same_as(node.value)) return expr;
    bool integer = is_int(value.dtype());
    return scalar_value(integer ? canonical(value) : std::move(value), expr.span());
  }

  bool apply_all(std::vector<Expr>& exprs) const {
    bool changed = false;
    for (Expr& expr : exprs) {
      Expr replaced = (*this)(expr);
      if (replaced.same_as(expr)) continue;
      expr = std::move(replaced);
      changed = true;
    }
    return changed;
  }

  const VarMap& vars_;
  const ScalarMap& scalars_;
};

}  // namespace

Expr substitute(const Expr& expr, const VarMap& vars, const ScalarMap& scalars) {
  if (vars.empty() && scalars.empty()) return expr;
  return GraphSubstitution(vars, scalars)(expr);
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
class FreshCopy {
 public:
  explicit FreshCopy(VarMap* renamed) : vars_(renamed ? *renamed : own_) { vars_.clear(); }

  Function copy(const Function& function) {
    Function result = function;
    for (Var& param : result.params) rename_symbols(param.type());
    for (Var& param : result.params) param = fresh(param);
    for (BindingBlock& block : result.blocks) {
      for (Binding& binding : block.bindings) {
        if (const MatchCast* cast = std::get_if<MatchCast>(&binding.kind)) rename_symbols(cast->type);
        rename_symbols(binding.var().type());
        fresh(binding.var());
        binding = substitute(binding, vars_, scalars_);
      }
    }
    result.result = substitute(function.result, vars_, scalars_);
    rename_symbols(function.result_type);
    result.result_type = substitute(function.result_type, scalars_);
    return result;
  }

 private:
  void rename_symbols(const Type& type) {
    symbols_.clear();
    collect_vars(type, symbols_);
    for (const ScalarVar& symbol : symbols_) {
      if (scalars_.contains(symbol.id())) continue;
      scalars_.emplace(symbol.id(), use(ScalarVar(symbol.name(), symbol.dtype(), symbol.span())));
    }
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
  std::visit(
      [&](const auto& kind) {
        using K = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<K, TupleExpr>) {
          for (const Expr& field : kind.fields) for_each_expr(field, visit);
        } else if constexpr (std::is_same_v<K, TupleGet>) {
          for_each_expr(kind.tuple, visit);
        } else if constexpr (std::is_same_v<K, FunctionCall> || std::is_same_v<K, CallTir>) {
          for_each_expr(kind.callee, visit);
          for (const Expr& arg : kind.args) for_each_expr(arg, visit);
        } else if constexpr (std::is_same_v<K, OpCall>) {
          for (const Expr& arg : kind.args) for_each_expr(arg, visit);
        }
      },
      expr.node().kind);
  visit(expr);
}

void for_each_expr(const Function& function, const std::function<void(const Expr&)>& visit) {
  for (const BindingBlock& block : function.blocks) {
    for (const Binding& binding : block.bindings) for_each_expr(binding.value(), visit);
  }
  for_each_expr(function.result, visit);
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
