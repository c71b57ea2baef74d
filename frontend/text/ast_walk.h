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
// The same, to be changed.
void for_each_part(Expr& expr, const std::function<void(ExprPtr&)>& visit);
// All expressions of a statement, targets and annotations too, and all its blocks, to be changed; those of
// definitions are not among them.
std::vector<ExprPtr*> expressions_of(Statement& statement);
std::vector<Block*> blocks_of(Statement& statement);
// The same, to be looked at.
std::vector<const ExprPtr*> expressions_of(const Statement& statement);
std::vector<const Block*> blocks_of(const Statement& statement);
// The expressions that a statement evaluates itself, without those of blocks inside it and without the names
// that it binds.
std::vector<const Expr*> own_expressions(const Statement& statement);
// The blocks inside a loop or branch; none for other statements.
std::vector<const Block*> inner_blocks(const Statement& statement);

}  // namespace relish::ast
