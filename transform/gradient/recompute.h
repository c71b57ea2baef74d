// The nests of a prim_func's own assignments, where their values are computed again.
#pragma once

#include <vector>

#include "loops/accesses.h"
#include "transform/gradient/assignments.h"
#include "transform/gradient/nests.h"

namespace relish {

// A nest over the loops of an assignment; its buffer and value are still to be said.
NestStore nest_over(const Assignment& each);
// Whether the spatial axes are the indices, and run over all elements.
bool covers(const NestStore& nest);
// Everything that the assignment loads.
std::vector<Access> loads_of(const Assignment& each);
// What computes the buffer that all of them write, in the order of the text.
std::vector<Stmt> nests_that_compute(const std::vector<const Assignment*>& writers);

}  // namespace relish
