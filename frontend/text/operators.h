// Precedence of operators. The grammar reads `- a + b * c` as a flat list; this turns the list into a tree by
// precedence climbing: the recursion is as deep as the precedence changes, never as long as the list.
#pragma once

#include <vector>

#include "frontend/text/ast.h"
#include "support/diagnostic.h"

namespace relish {

// One element of a flat operation: an operand or an operator.
struct OperationItem {
  enum class Kind : std::uint8_t { Operand, PrefixOperator, InfixOperator } kind;
  Span span;
  ast::ExprPtr operand;
  ast::PrefixOperator prefix = ast::PrefixOperator::Plus;
  ast::Operator infix = ast::Operator::Add;
};

// Null after an error (a misplaced 'not', nesting beyond the limit). `depth` is the nesting around the
// operation.
ast::ExprPtr resolve_operators(std::vector<OperationItem> items, std::size_t depth, Diagnostics& diagnostics);

}  // namespace relish
