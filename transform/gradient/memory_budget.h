// Which values of the way there a gradient keeps and which it computes again, so that it holds no more memory
// than it may.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/nodes/module.h"
#include "transform/gradient/checkpoints.h"

namespace relish {

// Both ways, and what is wanted of them.
struct BudgetSubject {
  const Module& module;  // with what they call
  const std::vector<Var>& params;
  const std::vector<Binding>& ahead;
  const std::vector<Binding>& back;
  std::vector<Expr> results;
  ValueIds always;  // is computed again whatever the budget
};

struct RecomputationPlan {
  ValueIds again;
  double work = 0;               // of the copies, as a part of that of all without them
  double copied = 0, total = 0;  // the work of the copies, and of all without them
  std::int64_t peak = 0;         // bytes of values that live at one time, each by itself
};

// From what is computed again anyway to what holds least: each holds less than the one before, for more work.
// A value is a candidate by the work that it takes for each of its bytes; where all of some work are computed
// again, the way there may be cut into segments, at whose ends values are kept. TypeError when a size is no
// number.
std::vector<RecomputationPlan> recomputation_plans(const BudgetSubject& subject, FunctionBuilder& names);

}  // namespace relish
