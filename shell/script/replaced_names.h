// Names whose values a statement takes and replaces by what its call gives, as a step of training does:
//   params, states = T.train_step(params, states, rate, x, y)
// Nobody looks again at what they held, so the call may write its results over it.
#pragma once

#include "frontend/text/ast.h"

namespace relish {

// Whether the assignment, whose targets are names, binds this one. Arguments are evaluated before the call,
// so it may stand among them more than once.
bool is_replaced(const ast::Assignment& assignment, const ast::Name& argument);

}  // namespace relish
