// Which scalars an R.function may hold: those that both tiers compute where it runs.
#pragma once

#include "frontend/context.h"
#include "ir/nodes/expr.h"

namespace relish {

// Refuses the others, each where it stands, with the operator of tensors that does the same.
void check_scalars(ReadContext& context, const Function& function);

}  // namespace relish
