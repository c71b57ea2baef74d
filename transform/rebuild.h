// Rebuilding of functions by passes: copying bindings under a substitution of variables and symbolic dims,
// and closing a list of bindings into a function of one block whose outputs are exactly the variables of
// the result.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// The function of that name; UsageError with the nearest name when there is none, or when it is a prim_func.
FunctionPtr relax_function(const Module& module, std::string_view name);

// Copies `binding` with its operands replaced; the bound variable gets a fresh identity (and a substituted
// type) that is entered into `vars`.
Binding copy_binding(const Binding& binding, VarMap& vars, const ScalarMap& scalars = {});

// Takes the names of the function's variables and symbols, so that fresh ones avoid them.
void reserve_names(const Function& function, FunctionBuilder& builder);

// One dataflow block: variables that `result` mentions become its outputs, all others are local to it;
// bindings that nothing uses vanish. With ifs, loops or effects among them it is a plain block, and a
// function with effects is not pure. `names` renames variables, by id.
using VarNames = std::unordered_map<std::uint64_t, std::string>;
void close_function(Function& function, std::vector<Binding> bindings, const Expr& result,
                    const VarNames& names = {});

// Whether `function` may stand in `module` in place of what has its name. UsageError when that is a
// prim_func, TypeError when another function calls it and the new one has another type.
void check_replaces(const Module& module, const Function& function);
// Whether two functions take and return the same, however their symbolic sizes are called.
bool same_signature(const Function& a, const Function& b);

// Variables that the leaf (or tuple of leaves) mentions, in order.
void collect_leaf_vars(const Expr& expr, std::vector<Var>& into);
// Variables that the value of a binding mentions.
std::vector<Var> used_vars(const Expr& value);

// A constant of rank 0.
Expr constant_of(DType dtype, double value);

}  // namespace relish
