// What a model computes of its weights alone, apart from the model: once for all calls.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Of each function f whose attributes tell its weights (relish.params, num_input): what hangs on weights and
// constants alone goes to `<f>_transform_params(weights…) -> (values…)`, and f takes these values in place of
// its weights, behind its inputs, whose number num_input tells. Functions of a trainer stay, those whose
// weights have sizes that only inputs tell or the other way round, and those that compute nothing of weights
// alone; they keep their handles. TypeError when others call a function that changes.
Module lift_params(const Module& module);

}  // namespace relish
