// Expressions, kind by kind.
#include "ir/verify/expr_checker.h"

#include <fmt/format.h>

#include "ir/calls/call_layout.h"
#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "support/failure.h"

namespace relish::verifying {

void ExprChecker::check_operand(const Expr& expr, Span span) {
  if (!is_leaf(expr)) {
    report_.error(span, "verify.operand",
                  fmt::format("operand {} is no leaf; it must be bound first", print(expr)));
  }
}

void ExprChecker::check(const Expr& expr, Span outer) {
  Span span = expr.span().known() ? expr.span() : outer;
  visit_kind([&](const auto& kind) { check_kind(expr, kind, span); }, expr);
}

void ExprChecker::check_operands(const std::vector<Expr>& operands, Span span) {
  for (const Expr& each : operands) {
    check_operand(each, span);
    check(each, span);
  }
}

void ExprChecker::check_kind(const Expr& expr, const VarRef& ref, Span span) {
  if (!scope_.sees(ref.var)) {
    bool bound = scope_.was_bound(ref.var);
    report_.error(span, bound ? "verify.dataflow" : "verify.unbound",
                  bound ? fmt::format("dataflow variable {} is used outside its block", ref.var.name())
                        : fmt::format("variable {} is used before it is bound", ref.var.name()));
  }
  check_recorded(expr, ref.var.type(), span);
}

void ExprChecker::check_kind(const Expr&, const PackedCall& node, Span span) {
  check(node.callee, span);
  check_operands(node.args, span);
  for (const Type& type : node.out_types) scope_.check_symbols(type, span, "a result of a packed call");
  for (const std::int64_t index : node.inplace_indices) check_inplace(index, node.args.size(), span);
}

void ExprChecker::check_inplace(std::int64_t index, std::size_t args, Span span) {
  if (index >= -1 && index < static_cast<std::int64_t>(args)) return;
  report_.error(span, "verify.inplace",
                fmt::format("inplace index {} is out of range for {} arguments", index, args));
}

void ExprChecker::check_kind(const Expr&, const TupleExpr& node, Span span) {
  check_operands(node.fields, span);
}

void ExprChecker::check_kind(const Expr&, const ShapeLiteral& node, Span span) {
  for (const Scalar& dim : node.dims) scope_.check_symbols(dim, span);
}

void ExprChecker::check_kind(const Expr&, const ScalarValueExpr& node, Span span) {
  scope_.check_symbols(node.value, span);
}

void ExprChecker::check_kind(const Expr& expr, const TupleGet& node, Span span) {
  check_operands({node.tuple}, span);
  check_inferred(expr, span, [&] { return tuple_get(node.tuple, node.index, span); });
}

void ExprChecker::check_kind(const Expr& expr, const OpCall& node, Span span) {
  check_operands(node.args, span);
  check_inferred(expr, span, [&] { return op_call(*node.op, node.args, node.attributes, span); });
}

void ExprChecker::check_kind(const Expr& expr, const FunctionCall& node, Span span) {
  check(node.callee, span);
  check_operands(node.args, span);
  check_inferred(expr, span, [&] { return function_call(node.callee, node.args, span); });
}

void ExprChecker::check_kind(const Expr&, const CallTir& node, Span span) {
  check(node.callee, span);
  check_operands(node.args, span);
  for (const Type& type : node.out_types) scope_.check_symbols(type, span, "a result of call_tir");
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

void ExprChecker::check_layout(const PrimFunc& callee, const CallTir& call, Span span) {
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

void ExprChecker::check_kind(const Expr& expr, const GlobalRef& global, Span span) {
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
void ExprChecker::check_inferred(const Expr& expr, Span span, Infer&& infer) {
  try {
    check_recorded(expr, infer().type(), span);
  } catch (const Failure& failure) {
    report_.error(span, "verify.type", failure.diagnostics().front().message);
  }
}

void ExprChecker::check_recorded(const Expr& expr, const Type& inferred, Span span) {
  if (same_type(expr.type(), inferred)) return;
  report_.error(span, "verify.type",
                fmt::format("{} is recorded with type {}; inferred is {}", print(expr), print(expr.type()),
                            print(inferred)));
}

const GlobalFunction* ExprChecker::find(const std::string& name) const {
  auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

PrimFuncPtr ExprChecker::find_prim_func(const std::string& name) const {
  const GlobalFunction* found = find(name);
  const auto* prim = found ? std::get_if<PrimFuncPtr>(found) : nullptr;
  return prim ? *prim : nullptr;
}

}  // namespace relish::verifying
