// Calls of which one result is taken: what computes the others falls away, and the call has one result, so
// that it may be fused. Calls whose results are copies, as a split's, become a call for each that is taken.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Every call_tir of several results of which one is taken, once and where the call stands, calls a prim_func
// that computes that one alone; so does every call that only copies, for each result, where all that reads
// its results takes one of them in the same block. Calls that may fault stay as they are.
Module with_taken_results(const Module& module);

}  // namespace relish
