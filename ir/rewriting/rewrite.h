// Rewriting: one generic traversal per level. A rewriter returns the same handle when nothing changed, so an
// unchanged function is shared, not copied.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"

namespace relish {

using VarMap = std::unordered_map<std::uint64_t, Expr>;  // variable id -> leaf

// Replaces variables (and scalars in types, shapes and scalar values). The same handle when nothing changed.
Expr substitute(const Expr& expr, const VarMap& vars, const ScalarMap& scalars = {});
Binding substitute(const Binding& binding, const VarMap& vars, const ScalarMap& scalars = {});
// In parameters, blocks and result; what it binds gets a new identity where its type changes.
FunctionPtr substitute(const FunctionPtr& function, const VarMap& vars, const ScalarMap& scalars = {});

// A copy of the function with fresh variables (parameters too) and fresh symbolic dims, so that two modules
// share no identities. `renamed` receives old id -> new variable when not null.
Function copy_with_fresh_vars(const Function& function, VarMap* renamed = nullptr);

// Calls `visit` for every expression of the function in order: values of bindings, then the result, with
// operands before the node that holds them. Regions and nested functions are walked where they stand.
void for_each_expr(const Function& function, const std::function<void(const Expr&)>& visit);
// The same for one expression: its operands, regions and nested functions, then itself.
void for_each_expr(const Expr& expr, const std::function<void(const Expr&)>& visit);
void for_each_expr(const Region& region, const std::function<void(const Expr&)>& visit);
// The bindings of regions and nested functions in it, then the binding itself.
void for_each_binding(const Binding& binding, const std::function<void(const Binding&)>& visit);
void for_each_binding(const Function& function, const std::function<void(const Binding&)>& visit);
// Scalar expressions and statements of a loop body, pre-order, with the scalars inside scalars. Declared
// regions of blocks are left out: they repeat what the statements access.
void for_each_scalar(const Stmt& stmt, const std::function<void(const Scalar&)>& visit);
void for_each_scalar(const Scalar& scalar, const std::function<void(const Scalar&)>& visit);
void for_each_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visit);

// The node with `map` of each of its operands in their place.
Scalar map_operands(const Scalar& scalar, const std::function<Scalar(const Scalar&)>& map);
// Post-order rewriting of scalars and statements: a handler returns a replacement or nothing for "unchanged".
Scalar rewrite(const Scalar& scalar, const std::function<std::optional<Scalar>(const Scalar&)>& handler);
Stmt rewrite(const Stmt& stmt, const std::function<std::optional<Scalar>(const Scalar&)>& scalar_handler,
             const std::function<std::optional<Stmt>(const Stmt&)>& stmt_handler);

// Names of global functions that the function refers to, in order of first use.
std::vector<std::string> global_references(const Function& function);

// A copy of the module whose functions are called `prefix` + their names; references among them follow.
// prim_funcs and functions of the copy share no identities with the original.
Module with_prefix(const Module& module, const std::string& prefix);

// Splices `callee`'s body into `builder` with `args` for its parameters, re-inferring every type from the
// arguments (so a callee written for unknown shapes becomes one for the arguments' shapes); prim_funcs and
// functions of `callee_module` that it refers to are copied into `target` under fresh names. Returns the
// result expression (a leaf).
Expr inline_call(FunctionBuilder& builder, Module& target, const Module& callee_module,
                 const Function& callee, const std::vector<Expr>& args);

}  // namespace relish
