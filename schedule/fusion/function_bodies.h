// The lists of blocks that a function has: its own, and those of all bodies inside of it.
#pragma once

#include "ir/nodes/module.h"
#include "ir/rewriting/rewrite.h"

namespace relish {

// Calls visit(blocks) for the function's body, both sides of each branch, the body and the condition of each
// loop, and the bodies of nested functions.
template <class Visit>
void for_each_body(const Function& function, const Visit& visit) {
  visit(function.blocks);
  for_each_expr(function, [&](const Expr& expr) {
    if (const auto* branch = expr.as<If>()) {
      visit(branch->then_region->blocks);
      visit(branch->else_region->blocks);
    } else if (const auto* loop = expr.as<Loop>()) {
      visit(loop->body->blocks);
      if (loop->condition) visit(loop->condition->blocks);
    } else if (const auto* nested = expr.as<FunctionExpr>()) {
      visit(nested->function->blocks);
    }
  });
}

}  // namespace relish
