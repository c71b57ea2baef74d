// Counting the nodes of a value.
#include "schedule/stages/value_cost.h"

#include <algorithm>
#include <vector>

#include "ir/scalars/scalar_order.h"
#include "loops/accesses.h"
#include "loops/extremes.h"

namespace relish {
namespace {

void add_cost(const Scalar& value, ValueCost& cost) {
  ++cost.nodes;
  if (value.as<Load>()) {
    ++cost.loads;
    return;
  }
  if (const auto* chosen = value.as<Select>()) {
    if (const auto extreme = as_extreme(*chosen)) {
      ++cost.operations;
      add_cost(extreme->a, cost);
      return add_cost(extreme->b, cost);
    }
    if (!chosen->lazy) ++cost.operations;
    // The guard of a padding compares indices.
    std::vector<Access> loads;
    collect_loads(chosen->condition, loads);
    if (!chosen->lazy || !loads.empty()) add_cost(chosen->condition, cost);
    add_cost(chosen->a, cost);
    return add_cost(chosen->b, cost);
  }
  if (const auto* node = value.as<Binary>()) {
    ++cost.operations;
    const bool divides = node->op != BinaryOp::Add && node->op != BinaryOp::Sub &&
                         node->op != BinaryOp::Mul && node->op != BinaryOp::Min && node->op != BinaryOp::Max;
    cost.heavy = cost.heavy || divides;
  }
  if (value.as<Compare>() || value.as<Logical>() || value.as<Not>()) ++cost.operations;
  if (value.as<IntrinsicCall>() || value.as<ForeignCall>()) cost.heavy = true;
  cost.names = cost.names || value.as<Let>();
  for_each_operand(value, [&](const Scalar& operand) { add_cost(operand, cost); });
}

}  // namespace

ValueCost value_cost_of(const Scalar& value) {
  ValueCost cost;
  add_cost(value, cost);
  return cost;
}

int moving_loads(const Stage& stage, const Scalar& value) {
  std::vector<Access> loads;
  collect_loads(value, loads);
  return static_cast<int>(std::count_if(loads.begin(), loads.end(), [&](const Access& load) {
    return stage.axes.empty() ||
           std::any_of(load.indices->begin(), load.indices->end(),
                       [&](const Scalar& at) { return uses_var(at, stage.axes.back().var); });
  }));
}

}  // namespace relish
