// match_cast with fresh symbolic dims, and annotations that say less than is known.
#include <algorithm>

#include "tests/generate/graph_forms.h"
#include "tests/generate/names.h"

namespace relish::generate {
namespace {

// A name that no scalar parameter has: a dim of its name would stand for that parameter
// (ir/scalars/symbols.h).
std::string fresh_dimension_name(GraphGenerator& g) {
  for (;;) {
    std::string name = dimension_name(g.random());
    const bool taken = std::any_of(g.known().begin(), g.known().end(), [&](const auto& each) {
      return each.var.name() == name && each.var.type().template as<ScalarType>() != nullptr;
    });
    if (!taken) return name;
  }
}

// Some of the dims replaced by new variables, whose values go to `bound`.
std::vector<Scalar> opened(GraphGenerator& g, const std::vector<Scalar>& dims, SymbolValues& bound) {
  std::vector<Scalar> result;
  const Type concrete = g.dims().concrete(Type(ShapeType{dims, static_cast<int>(dims.size())}));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!g.random().chance(0.5)) {
      result.push_back(dims[i]);
      continue;
    }
    const ScalarVar fresh(fresh_dimension_name(g), DType::Int64);
    bound.emplace(fresh.id(), *(*concrete.as<ShapeType>()->dims)[i].as_int());
    result.emplace_back(fresh);
  }
  return result;
}

}  // namespace

bool make_match_cast(GraphGenerator& g) {
  const auto candidates = g.those([](const Type& type) {
    const auto* shape = type.as<ShapeType>();
    return (type.tensor() && type.tensor()->shape) || (shape && shape->dims);
  });
  if (candidates.empty()) return false;
  const Var chosen = g.random().pick(candidates)->var;
  SymbolValues bound;
  g.cover("match_cast");
  if (const TensorType* tensor = chosen.type().tensor()) {
    TensorType type = *tensor;
    type.shape = opened(g, *tensor->shape, bound);
    return g.bind_cast(chosen, Type(type), bound).has_value();
  }
  ShapeType type = *chosen.type().as<ShapeType>();
  type.dims = opened(g, *type.dims, bound);
  return g.bind_cast(chosen, Type(type), bound).has_value();
}

bool make_looser_annotation(GraphGenerator& g) {
  const auto tensors = g.those([](const Type& type) { return type.tensor() != nullptr; });
  if (tensors.empty()) return false;
  const Var chosen = g.random().pick(tensors)->var;
  TensorType looser = *chosen.type().tensor();
  g.cover("looser annotation");
  looser.shape.reset();
  if (g.random().chance(0.3)) looser.rank = -1;
  if (g.random().chance(0.2)) looser.dtype.reset();
  return g.bind(Expr(chosen), "", g.random().chance(0.1) ? Type() : Type(looser)).has_value();
}

}  // namespace relish::generate
