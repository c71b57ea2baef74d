// Walks over the syntax tree of script statements.
#pragma once

#include <functional>
#include <vector>

#include "frontend/text/ast.h"

namespace relish::ast {

// The expression and all inside it, outer before inner.
void for_each_expr(const Expr& expr, const std::function<void(const Expr&)>& visit);
// Those that it is made of.
void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit);
// The expressions that a statement evaluates itself, without those of blocks inside it and without the names
// that it binds.
std::vector<const Expr*> own_expressions(const Statement& statement);
// The blocks inside a loop or branch; none for other statements.
std::vector<const Block*> inner_blocks(const Statement& statement);

}  // namespace relish::ast
