// Calls of which one result is taken: what computes the others falls away, and the call has one result, so
// that it may be fused.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Every call_tir of several results of which one is taken, once and where the call stands, calls a prim_func
// that computes that one alone. Calls that may fault stay as they are.
Module with_taken_results(const Module& module);

}  // namespace relish
