// Updates of reductions: stores that join a value to the element that they store to.
#pragma once

#include <optional>

#include "ir/nodes/stmt.h"

namespace relish {

// `X[i] = X[i] op e` or `X[i] = e op X[i]`, where op is +, *, min or max. `addend` is e.
struct Update {
  BinaryOp op;
  Scalar loaded, addend;
};
std::optional<Update> as_update(const Store& store);

// Whether the updates of one element may be joined in another grouping: always exact ones, and sums and
// products of float32 and float64 (the summation order of reductions is free but fixed).
bool reassociable(const Store& store);

}  // namespace relish
