// One traversal that rebuilds graph expressions: subclasses say what becomes of variables, globals, types,
// scalars, nodes and bindings; regions and nested functions are rebuilt with them. The same handle comes back
// when nothing changed. Internal to passes and to ir/.
#pragma once

#include <unordered_map>

#include "ir/nodes/module.h"

namespace relish {

class ExprMapper {
 public:
  virtual ~ExprMapper() = default;

  Expr map(const Expr& expr);
  RegionPtr map(const RegionPtr& region);
  FunctionPtr map(const FunctionPtr& function);
  // A binding inside a region or nested function; its variable by `map_bound`.
  Binding map(const Binding& binding);
  // True when something changed. Blocks that became empty vanish.
  bool map_blocks(std::vector<BindingBlock>& blocks);

 protected:
  // What becomes of a binding, in a block that is dataflow or not: by default map(binding), one for one. A
  // pass that takes a binding apart or leaves it out says so here.
  virtual void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into);
  // A node whose operands and bodies have been mapped.
  virtual Expr leave(const Expr& mapped);
  // A use of a variable that is bound outside what is being mapped.
  virtual Expr map_var(const Expr& expr, const Var& var);
  virtual Expr map_global(const Expr& expr, const GlobalRef& global);
  virtual Type map_type(const Type& type);
  // Dims of shapes and scalar values.
  virtual Scalar map_scalar(const Scalar& scalar);
  // A variable bound inside: itself, or its replacement, which its uses follow. By default a new one when its
  // type changes.
  virtual Var map_bound(const Var& var);
  virtual ScalarVar map_index(const ScalarVar& index);
  // Called with a type that binds symbols (of a match_cast or a nested parameter), before it is mapped.
  virtual void enter_type(const Type& type);
  // Around a region (`function` null), the function that is mapped and each nested one.
  virtual void enter_body(const Function* function);
  virtual void leave_body(const Function* function);
  // Before the bindings of a block.
  virtual void enter_block(const BindingBlock& block);

  bool map_all(std::vector<Expr>& exprs);
  bool map_all(std::vector<Type>& types);

 private:
  Expr apply(const Expr& expr, const VarRef& ref);
  Expr apply(const Expr& expr, const Constant&) { return expr; }
  Expr apply(const Expr& expr, const StringLiteral&) { return expr; }
  Expr apply(const Expr& expr, const DTypeLiteral&) { return expr; }
  Expr apply(const Expr& expr, const ExternFunc&) { return expr; }
  Expr apply(const Expr& expr, const GlobalRef& global) { return map_global(expr, global); }
  Expr apply(const Expr& expr, const TupleExpr& node);
  Expr apply(const Expr& expr, const TupleGet& node);
  Expr apply(const Expr& expr, const OpCall& node);
  Expr apply(const Expr& expr, const FunctionCall& node);
  Expr apply(const Expr& expr, const CallTir& node);
  Expr apply(const Expr& expr, const PackedCall& node);
  Expr apply(const Expr& expr, const ShapeLiteral& node);
  Expr apply(const Expr& expr, const ScalarValueExpr& node);
  Expr apply(const Expr& expr, const FunctionExpr& node);
  Expr apply(const Expr& expr, const If& node);
  Expr apply(const Expr& expr, const Loop& node);

  Var bound(const Var& var);

  std::unordered_map<std::uint64_t, Var> replaced_;  // variables bound inside, by old id
};

// A nested function under the name of the variable that it is bound to; any other value as it is.
Expr named_as(const Expr& value, const Var& var);

}  // namespace relish
