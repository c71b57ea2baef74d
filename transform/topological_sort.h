// The bindings of dataflow blocks in another order of those that are possible.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// Depth: each value stands directly before what first takes it, in the order of what the block gives.
// Breadth: first what is made of what stands before the block, then what is made of that, and so on.
enum class TopologicalOrder { Depth, Breadth };

// In bodies of ifs, loops and nested functions too. Bindings that nothing takes come last. Functions in which
// the order is that already keep their handles.
Module topological_sort(const Module& module, TopologicalOrder order);

}  // namespace relish
