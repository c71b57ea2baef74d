// Comparisons of texts, which are decided when a program is read.
#pragma once

#include <optional>

#include "frontend/text/ast.h"
#include "ir/nodes/expr.h"

namespace relish {

// Texts are no values of programs: two that are known are compared here. None where neither operand is a text
// or they are not compared by == or !=. TypeError for a text that is not known.
std::optional<bool> compared_texts(ast::Operator op, Span op_span, const Expr& left, const Expr& right);

}  // namespace relish
