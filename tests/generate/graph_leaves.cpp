// Bindings of leaves: constants, aliases, shapes, scalars, texts.
#include <cmath>

#include "tests/generate/graph_forms.h"
#include "tests/generate/values.h"

namespace relish::generate {

bool make_constant(GraphGenerator& g) {
  Random& random = g.random();
  Shape shape;
  const bool large = random.chance(0.15) && !g.options().evaluated;
  for (std::int64_t rank = random.between(0, 3); rank > 0; --rank)
    shape.push_back(random.between(large ? 2 : 1, 5));
  if (!g.options().evaluated && random.chance(0.05)) shape.push_back(0);
  Tensor tensor = Tensor::empty(g.dims().dtype(), shape);
  constexpr double wild[] = {0.1, -0.0, 1e-45, 3.4e38, 1.0 / 3, 1e300, INFINITY, NAN, 65504, 5e-324};
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (!is_float(tensor.dtype()))
      tensor.set_int(i, is_bool(tensor.dtype()) ? random.below(2)
                        : g.options().evaluated ? random.between(0, 5)
                                                : static_cast<std::int64_t>(random.next()));
    else if (!g.options().evaluated && random.chance(0.3))
      tensor.set_double(i, random.pick(wild));
    else  // a value of every float dtype, so that a widened program has the same constants
      tensor.set_double(i, static_cast<double>(random.between(-16, 16)) / 8);
  }
  g.cover(tensor.size() > 16 ? "large constant" : tensor.rank() > 0 ? "nested constant" : "scalar constant");
  return g.bind(constant(tensor)).has_value();
}

bool make_alias(GraphGenerator& g) {
  if (g.known().empty()) return false;
  g.cover("alias");
  return g.bind(Expr(g.random().pick(g.known()).var)).has_value();
}

bool make_shape(GraphGenerator& g) {
  g.cover("shape value");
  return g.bind(shape_literal(g.dims().shape())).has_value();
}

bool make_scalar(GraphGenerator& g) {
  g.cover("scalar value");
  Random& random = g.random();
  if (random.chance(0.5)) return g.bind(scalar_value(g.dims().dimension())).has_value();
  if (random.chance(0.5)) {
    const double value = static_cast<double>(random.between(-8, 8)) * 0.25;
    constexpr DType kinds[] = {DType::Float32, DType::Float64};
    return g.bind(scalar_value(float_literal(random.pick(kinds), value))).has_value();
  }
  if (random.chance(0.3)) return g.bind(scalar_value(bool_literal(random.chance(0.5)))).has_value();
  constexpr DType kinds[] = {DType::Int64, DType::Int32};
  return g.bind(scalar_value(int_literal(random.pick(kinds), random.between(-9, 9)))).has_value();
}

bool make_text(GraphGenerator& g) {
  constexpr const char* texts[] = {"",        "x", "a \"quoted\" 'text'", "line\nline", "back\\slash",
                                   "∑ naïve", "{}"};
  g.cover("text value");
  if (g.random().chance(0.3)) return g.bind(dtype_literal(g.dims().dtype())).has_value();
  return g.bind(string_literal(g.random().pick(texts))).has_value();
}

}  // namespace relish::generate
