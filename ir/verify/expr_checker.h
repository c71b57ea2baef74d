// What must hold of one expression: its parts, and that the type it is recorded with is the inferred one.
// Internal to ir/.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/verify/graph_scope.h"

namespace relish::verifying {

// The functions of the module by their names.
using FunctionIndex = std::unordered_map<std::string_view, const GlobalFunction*>;

class ExprChecker {
 public:
  ExprChecker(const FunctionIndex& functions, GraphScope& scope, Reporter& report)
      : functions_(functions), scope_(scope), report_(report) {}

  // `outer`: the place of an expression that has none of its own. Bodies inside the expression are verified
  // where it is bound.
  void check(const Expr& expr, Span outer);
  // What stands as an operand must be a leaf.
  void check_operand(const Expr& expr, Span span);
  // The same of each, and then what holds of any expression.
  void check_operands(const std::vector<Expr>& operands, Span span);

 private:
  void check_kind(const Expr&, const Constant&, Span) {}
  void check_kind(const Expr&, const StringLiteral&, Span) {}
  void check_kind(const Expr&, const ExternFunc&, Span) {}
  void check_kind(const Expr&, const FunctionExpr&, Span) {}
  void check_kind(const Expr&, const If&, Span) {}
  void check_kind(const Expr&, const Loop&, Span) {}
  void check_kind(const Expr&, const DTypeLiteral&, Span) {}
  void check_kind(const Expr& expr, const VarRef& ref, Span span);
  void check_kind(const Expr&, const PackedCall& node, Span span);
  void check_kind(const Expr&, const TupleExpr& node, Span span);
  void check_kind(const Expr&, const ShapeLiteral& node, Span span);
  void check_kind(const Expr&, const ScalarValueExpr& node, Span span);
  void check_kind(const Expr& expr, const TupleGet& node, Span span);
  void check_kind(const Expr& expr, const OpCall& node, Span span);
  void check_kind(const Expr& expr, const FunctionCall& node, Span span);
  void check_kind(const Expr&, const CallTir& node, Span span);
  void check_kind(const Expr& expr, const GlobalRef& global, Span span);

  void check_inplace(std::int64_t index, std::size_t args, Span span);
  void check_layout(const PrimFunc& callee, const CallTir& call, Span span);
  template <class Infer>
  void check_inferred(const Expr& expr, Span span, Infer&& infer);
  void check_recorded(const Expr& expr, const Type& inferred, Span span);
  const GlobalFunction* find(const std::string& name) const;
  PrimFuncPtr find_prim_func(const std::string& name) const;

  const FunctionIndex& functions_;
  GraphScope& scope_;
  Reporter& report_;
};

}  // namespace relish::verifying
