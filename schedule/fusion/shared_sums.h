// Sums that several calls take of the same terms, as the statistics of a norm are by the norm and by its
// gradient: one call takes them, and hands them to the others.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// The module in which each such sum is the result of a call of its own, before the first that takes it, and
// an argument of all that do. Only sums of many terms that are a few numbers, so what is kept for later is
// next to nothing. For the fusion of calls, which makes one again of those that stand together.
Module with_shared_sums(const Module& module);

}  // namespace relish
