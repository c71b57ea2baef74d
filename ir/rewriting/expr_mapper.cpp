// The rebuilding traversal of graph expressions.
#include "ir/rewriting/expr_mapper.h"

#include "ir/operators/op.h"
#include "support/interrupt.h"

namespace relish {

Expr ExprMapper::map_var(const Expr& expr, const Var&) { return expr; }
Expr ExprMapper::map_global(const Expr& expr, const GlobalRef&) { return expr; }
Type ExprMapper::map_type(const Type& type) { return type; }
Scalar ExprMapper::map_scalar(const Scalar& scalar) { return scalar; }
ScalarVar ExprMapper::map_index(const ScalarVar& index) { return index; }
void ExprMapper::enter_type(const Type&) {}
void ExprMapper::enter_body(const Function*) {}
void ExprMapper::leave_body(const Function*) {}
void ExprMapper::enter_block(const BindingBlock&) {}
Expr ExprMapper::leave(const Expr& mapped) { return mapped; }

void ExprMapper::map_binding(const Binding& binding, bool, std::vector<Binding>& into) {
  into.push_back(map(binding));
}

Var ExprMapper::map_bound(const Var& var) {
  Type type = map_type(var.type());
  return type.same_as(var.type()) ? var : Var(var.name(), std::move(type), var.dataflow(), var.span());
}

Var ExprMapper::bound(const Var& var) {
  Var mapped = map_bound(var);
  if (!(mapped == var)) replaced_.insert_or_assign(var.id(), mapped);
  return mapped;
}

bool ExprMapper::map_all(std::vector<Expr>& exprs) {
  bool changed = false;
  for (Expr& expr : exprs) {
    Expr mapped = map(expr);
    if (mapped.same_as(expr)) continue;
    expr = std::move(mapped);
    changed = true;
  }
  return changed;
}

bool ExprMapper::map_all(std::vector<Type>& types) {
  bool changed = false;
  for (Type& type : types) {
    Type mapped = map_type(type);
    if (mapped.same_as(type)) continue;
    type = std::move(mapped);
    changed = true;
  }
  return changed;
}

Expr ExprMapper::map(const Expr& expr) {
  if (!expr.defined()) return expr;
  return leave(visit_kind([&](const auto& kind) { return apply(expr, kind); }, expr));
}

Expr ExprMapper::apply(const Expr& expr, const VarRef& ref) {
  const auto inside = replaced_.find(ref.var.id());
  return inside == replaced_.end() ? map_var(expr, ref.var) : var_ref(inside->second, expr.span());
}

Expr ExprMapper::apply(const Expr& expr, const TupleExpr& node) {
  std::vector<Expr> fields = node.fields;
  return map_all(fields) ? tuple(std::move(fields), expr.span()) : expr;
}

Expr ExprMapper::apply(const Expr& expr, const TupleGet& node) {
  Expr from = map(node.tuple);
  return from.same_as(node.tuple) ? expr : tuple_get(std::move(from), node.index, expr.span());
}

Expr ExprMapper::apply(const Expr& expr, const OpCall& node) {
  std::vector<Expr> args = node.args;
  return map_all(args) ? op_call(*node.op, std::move(args), node.attributes, expr.span()) : expr;
}

Expr ExprMapper::apply(const Expr& expr, const FunctionCall& node) {
  Expr callee = map(node.callee);
  std::vector<Expr> args = node.args;
  const bool changed = map_all(args);
  if (!changed && callee.same_as(node.callee)) return expr;
  return function_call(std::move(callee), std::move(args), expr.span());
}

Expr ExprMapper::apply(const Expr& expr, const CallTir& node) {
  CallTir copy = node;
  copy.callee = map(node.callee);
  bool changed = !copy.callee.same_as(node.callee);
  changed = map_all(copy.args) || changed;
  changed = map_all(copy.out_types) || changed;
  return changed ? call_tir(std::move(copy), expr.span()) : expr;
}

Expr ExprMapper::apply(const Expr& expr, const PackedCall& node) {
  PackedCall copy = node;
  copy.callee = map(node.callee);
  bool changed = !copy.callee.same_as(node.callee);
  changed = map_all(copy.args) || changed;
  changed = map_all(copy.out_types) || changed;
  return changed ? packed_call(std::move(copy), expr.span()) : expr;
}

Expr ExprMapper::apply(const Expr& expr, const ShapeLiteral& node) {
  std::vector<Scalar> dims = node.dims;
  bool changed = false;
  for (Scalar& dim : dims) {
    Scalar mapped = map_scalar(dim);
    if (mapped.same_as(dim)) continue;
    dim = canonical(mapped);
    changed = true;
  }
  return changed ? shape_literal(std::move(dims), expr.span()) : expr;
}

Expr ExprMapper::apply(const Expr& expr, const ScalarValueExpr& node) {
  Scalar value = map_scalar(node.value);
  if (value.same_as(node.value)) return expr;
  const bool integer = is_int(value.dtype());
  return scalar_value(integer ? canonical(value) : std::move(value), expr.span());
}

Expr ExprMapper::apply(const Expr& expr, const FunctionExpr& node) {
  FunctionPtr function = map(node.function);
  return function == node.function ? expr : function_expr(std::move(function), expr.span());
}

Expr ExprMapper::apply(const Expr& expr, const If& node) {
  Expr condition = map(node.condition);
  RegionPtr then_region = map(node.then_region), else_region = map(node.else_region);
  if (condition.same_as(node.condition) && then_region == node.then_region &&
      else_region == node.else_region) {
    return expr;
  }
  return if_expr(std::move(condition), *then_region, *else_region, expr.span());
}

Expr ExprMapper::apply(const Expr& expr, const Loop& node) {
  Loop copy = node;
  bool changed = map_all(copy.initial);
  for (Expr* bound : {&copy.begin, &copy.end, &copy.step}) {
    Expr mapped = map(*bound);
    changed = changed || (mapped.defined() && !mapped.same_as(*bound));
    *bound = std::move(mapped);
  }
  if (node.index.defined()) {
    copy.index = map_index(node.index);
    changed = changed || !(copy.index == node.index);
  }
  copy.condition = map(node.condition);
  copy.body = map(node.body);
  changed = changed || copy.condition != node.condition || copy.body != node.body;
  return changed ? loop_expr(std::move(copy), expr.span()) : expr;
}

Expr named_as(const Expr& value, const Var& var) {
  const auto* nested = value.as<FunctionExpr>();
  if (!nested || nested->function->name == var.name()) return value;
  auto function = std::make_shared<Function>(*nested->function);
  function->name = var.name();
  return function_expr(std::move(function), value.span());
}

Binding ExprMapper::map(const Binding& binding) {
  poll_interrupt(binding.span);
  Binding result = binding;
  if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) enter_type(cast->type);
  // A nested function may call itself by its variable, so that is replaced first.
  const bool names_itself = binding.value().as<FunctionExpr>() != nullptr;
  std::visit(
      [&](auto& kind) {
        const Var old = kind.var;
        if (names_itself) kind.var = bound(old);
        kind.value = map(kind.value);
        if (names_itself && !(kind.var == old)) kind.value = named_as(kind.value, kind.var);
        if constexpr (requires { kind.type; }) kind.type = map_type(kind.type);
        if (!names_itself) kind.var = bound(old);
      },
      result.kind);
  return result;
}

namespace {

bool unchanged(const Binding& from, const Binding& to) {
  if (from.kind.index() != to.kind.index() || !to.value().same_as(from.value()) || !(to.var() == from.var()))
    return false;
  const auto* cast = std::get_if<MatchCast>(&from.kind);
  return !cast || std::get<MatchCast>(to.kind).type.same_as(cast->type);
}

}  // namespace

bool ExprMapper::map_blocks(std::vector<BindingBlock>& blocks) {
  bool changed = false;
  for (BindingBlock& block : blocks) {
    std::vector<Binding> mapped;
    mapped.reserve(block.bindings.size());
    enter_block(block);
    for (const Binding& binding : block.bindings) {
      const std::size_t before = mapped.size();
      map_binding(binding, block.dataflow, mapped);
      changed = changed || mapped.size() != before + 1 || !unchanged(binding, mapped.back());
    }
    block.bindings = std::move(mapped);
  }
  if (changed) std::erase_if(blocks, [](const BindingBlock& block) { return block.bindings.empty(); });
  return changed;
}

RegionPtr ExprMapper::map(const RegionPtr& region) {
  if (!region) return region;
  Region copy = *region;
  bool changed = false;
  enter_body(nullptr);
  for (Var& param : copy.params) {
    Var mapped = bound(param);
    changed = changed || !(mapped == param);
    param = std::move(mapped);
  }
  changed = map_blocks(copy.blocks) || changed;
  changed = map_all(copy.results) || changed;
  leave_body(nullptr);
  return changed ? std::make_shared<const Region>(std::move(copy)) : region;
}

FunctionPtr ExprMapper::map(const FunctionPtr& function) {
  Function copy = *function;
  bool changed = false;
  enter_body(function.get());
  for (const Var& param : copy.params) enter_type(param.type());
  for (Var& param : copy.params) {
    Var mapped = bound(param);
    changed = changed || !(mapped == param);
    param = std::move(mapped);
  }
  changed = map_blocks(copy.blocks) || changed;
  copy.result = map(function->result);
  copy.result_type = map_type(function->result_type);
  leave_body(function.get());
  changed =
      changed || !copy.result.same_as(function->result) || !copy.result_type.same_as(function->result_type);
  return changed ? std::make_shared<const Function>(std::move(copy)) : function;
}

}  // namespace relish
