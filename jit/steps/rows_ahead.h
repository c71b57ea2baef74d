// What the next round of a loop will gather, told while this one runs.
#pragma once

#include "jit/steps/steps.h"

namespace relish::jit {

// In the list of a loop's body, from step number `entry` on: a round that takes row i of a table, and with it
// rows of tensors that all rounds share, as training takes the rows of a batch in their order, most likely
// takes row i + 1 next. A step::RowsAhead says so, behind the kernel that took the row. `carried`: so many
// parameters, the first ones, are another value in each round. `effects`: a round may write to the others, by
// whatever name, so that rows of them are fetched and not copied.
void tell_rows_ahead(FunctionSteps& body, std::size_t entry, std::size_t carried, bool effects);

}  // namespace relish::jit
