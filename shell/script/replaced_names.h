// Names whose values a statement takes and replaces by what its call gives, as a loop over steps of training
// does:
//   params, states = T.train_step(params, states, rate, x, y)
// Nobody looks again at what they held, so the call may write its results over it.
#pragma once

#include "frontend/text/ast.h"

namespace relish {

// Whether the name, an argument of the assignment's call, stands nowhere else in the call and is bound by the
// assignment, whose targets are names.
bool is_replaced(const ast::Assignment& assignment, const ast::Name& argument);

}  // namespace relish
