// Tuples, nested and empty, and access to their fields.
#include "tests/generate/graph_forms.h"

namespace relish::generate {
namespace {

Expr some_tuple(GraphGenerator& g, int depth) {
  Random& random = g.random();
  std::vector<Expr> fields;
  for (std::int64_t count = random.between(g.options().evaluated ? 1 : 0, 3); count > 0; --count) {
    if (depth > 0 && random.chance(0.2))
      fields.push_back(some_tuple(g, depth - 1));
    else
      fields.emplace_back(random.pick(g.known()).var);
  }
  return tuple(std::move(fields));
}

}  // namespace

bool make_tuple(GraphGenerator& g) {
  if (g.known().empty()) return false;
  g.cover("tuple");
  return g.bind(some_tuple(g, 2)).has_value();
}

bool make_tuple_access(GraphGenerator& g) {
  const auto tuples = g.those([](const Type& type) { return type.tuple() && !type.tuple()->fields.empty(); });
  if (tuples.empty()) return false;
  const GraphGenerator::Known& chosen = *g.random().pick(tuples);
  const auto count = static_cast<std::int64_t>(chosen.var.type().tuple()->fields.size());
  g.cover("tuple access");
  const std::string maker = chosen.maker;
  return g.bind(tuple_get(chosen.var, static_cast<int>(g.random().below(count))), maker).has_value();
}

}  // namespace relish::generate
