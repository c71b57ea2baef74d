// Collecting the symbols of a binding.
#include "transform/mentioned_symbols.h"

#include "ir/rewriting/rewrite.h"

namespace relish {

SymbolList mentioned_symbols(const Binding& binding) {
  SymbolList found;
  if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) found.add_mentioned(cast->type);
  found.add_mentioned(binding.var().type());
  for_each_expr(binding.value(), [&](const Expr& expr) {
    found.add_mentioned(expr.type());
    if (const auto* scalar = expr.as<ScalarValueExpr>()) found.add_mentioned(scalar->value);
    if (const auto* shape = expr.as<ShapeLiteral>())
      for (const Scalar& dim : shape->dims) found.add_mentioned(dim);
  });
  return found;
}

}  // namespace relish
