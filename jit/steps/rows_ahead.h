// What the next round of a loop will gather, told while this one runs.
#pragma once

#include "jit/steps/steps.h"

namespace relish::jit {

// In the list of a loop's body, from step number `entry` on: a round that takes row i of a table, and with it
// rows of tensors that all rounds share, as training takes the rows of a batch in their order, most likely
// takes row i + 1 next. A step::RowsAhead says so, behind the kernel that took the row.
void tell_rows_ahead(FunctionSteps& body, std::size_t entry);

}  // namespace relish::jit
