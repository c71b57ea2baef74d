// The reference interpreter: the meaning of graph functions and prim_funcs, written for clarity. The compiled
// tier is judged by it.
#pragma once

#include <memory>

#include "ir/operators/evaluator.h"

namespace relish {

std::unique_ptr<Evaluator> make_interpreter();

}  // namespace relish
