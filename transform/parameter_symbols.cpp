// One symbol for each parameter.
#include "transform/parameter_symbols.h"

#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"

namespace relish {

ScalarMap joined_parameter_symbols(const Function& function,
                                   const std::unordered_map<std::uint64_t, ScalarVar>& first) {
  ScalarMap joined;
  std::unordered_map<std::uint64_t, ScalarVar> symbols = first;
  const ScalarParameters scalars(function);
  for_each_symbol(function, [&](const ScalarVar& symbol) {
    const std::optional<Var> param = scalars.of(symbol);
    if (!param) return;
    const auto [known, is_first] = symbols.try_emplace(param->id(), symbol);
    if (!is_first && !(known->second == symbol)) joined.emplace(symbol.id(), use(known->second));
  });
  return joined;
}

FunctionPtr with_parameter_symbols_joined(const FunctionPtr& function) {
  const ScalarMap joined = joined_parameter_symbols(*function);
  return joined.empty() ? function : substitute(function, {}, joined);
}

}  // namespace relish
