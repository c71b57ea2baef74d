// Every part of the guard is looked at: one that compares numbers and a single place is tried at all of them.
#include "schedule/blocks/guarded_places.h"

#include <algorithm>

#include "loops/accesses.h"
#include "schedule/shapes/counted_conditions.h"

namespace relish {
namespace {

// Takes the places at which the condition does not hold from the ends of the loop. Comparisons of what grows
// with a place hold from one on, or up to one.
bool narrows(PlaceBounds& place, const Scalar& condition) {
  const auto fails_at = [&](std::int64_t at) { return holds_at(condition, {{place.var, at}}) == false; };
  if (!holds_at(condition, {{place.var, place.begin}})) return false;
  while (place.extent > 0 && fails_at(place.begin)) ++place.begin, --place.extent;
  while (place.extent > 0 && fails_at(place.begin + place.extent - 1)) --place.extent;
  return true;
}

}  // namespace

std::optional<GuardedPlaces> guarded_places(const Scalar& read, const std::vector<PlaceBounds>& all) {
  GuardedPlaces result{all, std::vector<Scalar>(all.size()), read};
  const auto* chosen = read.as<Select>();
  if (!chosen) return result;
  result.value = chosen->a;
  for (const Scalar& condition : conditions_of(chosen->condition)) {
    std::vector<ScalarVar> vars;
    collect_vars(condition, vars);
    const auto uses = [&](const PlaceBounds& place) {
      return std::find(vars.begin(), vars.end(), place.var) != vars.end();
    };
    const auto used = std::find_if(result.bounds.begin(), result.bounds.end(), uses);
    const bool alone = std::all_of(vars.begin(), vars.end(), [&](const ScalarVar& var) {
      return used != result.bounds.end() && var == used->var;
    });
    if (alone && used != result.bounds.end() && narrows(*used, condition)) {
      if (used->extent == 0) return std::nullopt;
      continue;
    }
    std::size_t last = result.bounds.size() - 1;
    while (last > 0 && !uses(result.bounds[last])) --last;
    Scalar& guard = result.guards[last];
    guard = guard.defined() ? logical(LogicalOp::And, guard, condition) : condition;
  }
  return result;
}

}  // namespace relish
