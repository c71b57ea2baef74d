// Symbolic variables of graph functions.
#include "ir/scalars/symbols.h"

#include <algorithm>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

void collect_bare(const std::vector<Scalar>& dims, std::vector<ScalarVar>& into) {
  for (const Scalar& dim : dims) {
    if (auto var = dim.as_var(); var && std::find(into.begin(), into.end(), *var) == into.end())
      into.push_back(*var);
  }
}

class SymbolVisitor {
 public:
  explicit SymbolVisitor(const std::function<void(const ScalarVar&)>& visit) : visit_(visit) {}

  // An index of a loop is no symbol of the function.
  void leave_out(const ScalarVar& index) { seen_.insert(index.id()); }

  void scalar(const Scalar& scalar) {
    for_each_scalar(scalar, [&](const Scalar& inner) {
      if (auto var = inner.as_var(); var && seen_.insert(var->id()).second) visit_(*var);
    });
  }
  void type(const Type& type) {
    std::vector<ScalarVar> vars;
    collect_vars(type, vars);
    for (const ScalarVar& var : vars) {
      if (seen_.insert(var.id()).second) visit_(var);
    }
  }
  void expr(const Expr& expr) {
    if (const ShapeLiteral* shape = expr.as<ShapeLiteral>()) {
      for (const Scalar& dim : shape->dims) scalar(dim);
    } else if (const ScalarValueExpr* value = expr.as<ScalarValueExpr>()) {
      scalar(value->value);
    } else if (const CallTir* call = expr.as<CallTir>()) {
      for (const Type& out : call->out_types) type(out);
    } else if (const PackedCall* packed = expr.as<PackedCall>()) {
      for (const Type& out : packed->out_types) type(out);
    }
  }

 private:
  const std::function<void(const ScalarVar&)>& visit_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

void collect_determined(const Type& type, std::vector<ScalarVar>& into) {
  if (const TensorType* tensor = type.tensor()) {
    if (tensor->shape) collect_bare(*tensor->shape, into);
  } else if (const ShapeType* shape = type.as<ShapeType>()) {
    if (shape->dims) collect_bare(*shape->dims, into);
  } else if (const TupleType* tuple = type.tuple()) {
    for (const Type& field : tuple->fields) collect_determined(field, into);
  }
}

void for_each_symbol(const Function& function, const std::function<void(const ScalarVar&)>& visit) {
  SymbolVisitor visitor(visit);
  for (const Var& param : function.params) visitor.type(param.type());
  for (const BindingBlock& block : function.blocks) {
    for (const Binding& binding : block.bindings) {
      for_each_expr(binding.value(), [&](const Expr& expr) {
        if (const Loop* loop = expr.as<Loop>(); loop && loop->index.defined()) visitor.leave_out(loop->index);
      });
      for_each_expr(binding.value(), [&](const Expr& expr) { visitor.expr(expr); });
      for_each_binding(binding, [&](const Binding& each) {
        if (const MatchCast* cast = std::get_if<MatchCast>(&each.kind)) visitor.type(cast->type);
        visitor.type(each.var().type());
      });
    }
  }
  for_each_expr(function.result, [&](const Expr& expr) { visitor.expr(expr); });
  visitor.type(function.result_type);
}

ScalarParameters::ScalarParameters(const Function& function) {
  for (const Var& param : function.params) {
    if (param.type().as<ScalarType>()) scalars_.emplace(param.name(), param);
  }
  if (scalars_.empty()) return;
  for (const Var& param : function.params) determined_.add_determined(param.type());
}

std::optional<Var> ScalarParameters::of(const ScalarVar& symbol) const {
  if (scalars_.empty() || determined_.contains(symbol)) return std::nullopt;
  auto [first, last] = scalars_.equal_range(symbol.name());
  for (; first != last; ++first) {
    if (first->second.type().as<ScalarType>()->dtype == symbol.dtype()) return first->second;
  }
  return std::nullopt;
}

std::optional<Var> scalar_parameter_of(const Function& function, const ScalarVar& symbol) {
  return ScalarParameters(function).of(symbol);
}

void SymbolList::add_mentioned(const Type& type) {
  std::vector<ScalarVar> vars;
  collect_vars(type, vars);
  add_all(vars);
}

void SymbolList::add_mentioned(const Scalar& scalar) {
  std::vector<ScalarVar> vars;
  collect_vars(scalar, vars);
  add_all(vars);
}

void SymbolList::add_determined(const Type& type) {
  std::vector<ScalarVar> vars;
  collect_determined(type, vars);
  add_all(vars);
}

}  // namespace relish
