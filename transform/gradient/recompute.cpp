// Making nests of assignments.
#include "transform/gradient/recompute.h"

#include <algorithm>
#include <unordered_set>

namespace relish {

NestStore nest_over(const Assignment& each) {
  NestStore nest;
  nest.span = each.span;
  nest.indices = each.indices;
  for (const Guard& guard : each.guards) nest.conditions.push_back(guard.condition);
  std::unordered_set<std::uint64_t> in_indices;
  for (const Scalar& index : each.indices) {
    std::vector<ScalarVar> vars;
    collect_vars(index, vars);
    for (const ScalarVar& var : vars) in_indices.insert(var.id());
  }
  for (const DomainAxis& axis : each.loops)
    (in_indices.contains(axis.var.id()) || each.update == Update::Set ? nest.spatial : nest.reduce)
        .push_back(axis);
  return nest;
}

bool covers(const NestStore& nest) {
  if (nest.spatial.size() != nest.indices.size()) return false;
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < nest.indices.size(); ++i) {
    const auto var = nest.indices[i].as_var();
    if (!var || !seen.insert(var->id()).second) return false;
    const auto axis = std::find_if(nest.spatial.begin(), nest.spatial.end(),
                                   [&](const DomainAxis& each) { return each.var == *var; });
    if (axis == nest.spatial.end() || axis->begin.as_int() != 0) return false;
    if (!prove_equal(axis->extent, nest.buffer.shape()[i])) return false;
  }
  return true;
}

namespace {

// Whether `init` is the start of the reduction that follows, over all of its spatial axes.
bool starts(const Assignment& init, const Assignment& update) {
  if (!init.init || update.init || init.block != update.block || update.update == Update::Set) return false;
  if (!init.guards.empty() || !same_indices(init.indices, update.indices)) return false;
  const NestStore nest = nest_over(update);
  return std::equal(init.loops.begin(), init.loops.end(), nest.spatial.begin(), nest.spatial.end(),
                    [](const DomainAxis& a, const DomainAxis& b) { return a.var == b.var; });
}

}  // namespace

std::vector<Access> loads_of(const Assignment& each) {
  std::vector<Access> loads;
  collect_loads(each.value, loads);
  for (const Scalar& index : each.indices) collect_loads(index, loads);
  for (const Guard& guard : each.guards) collect_loads(guard.condition, loads);
  for (const DomainAxis& axis : each.loops) {
    collect_loads(axis.begin, loads);
    collect_loads(axis.extent, loads);
  }
  return loads;
}

std::vector<Stmt> nests_that_compute(const std::vector<const Assignment*>& writers) {
  std::vector<Stmt> stmts;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const Assignment* start = nullptr;
    if (i + 1 < writers.size() && starts(*writers[i], *writers[i + 1])) start = writers[i++];
    NestStore nest = nest_over(*writers[i]);
    nest.name = writers[i]->buffer.name();
    nest.buffer = writers[i]->buffer;
    nest.value = writers[i]->stored;
    if (start) nest.start = start->value;
    stmts.push_back(nest_of(nest));
  }
  return stmts;
}

}  // namespace relish
