// Dimensions that a call gives twice.
#include "ir/scalars/twice_given.h"

#include <fmt/format.h>

#include <map>

#include "ir/scalars/symbols.h"

namespace relish {

std::vector<std::pair<ScalarVar, std::size_t>> twice_given(std::span<const Var> params) {
  std::vector<std::pair<ScalarVar, std::size_t>> result;
  std::multimap<std::string_view, std::size_t> scalars;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (params[i].type().as<ScalarType>()) scalars.emplace(params[i].name(), i);
  if (scalars.empty()) return result;
  SymbolList determined;
  for (const Var& param : params) determined.add_determined(param.type());
  for (const ScalarVar& symbol : determined.vars()) {
    const auto [first, last] = scalars.equal_range(symbol.name());
    for (auto at = first; at != last; ++at)
      if (params[at->second].type().as<ScalarType>()->dtype == symbol.dtype())
        result.emplace_back(symbol, at->second);
  }
  return result;
}

Type size_type(const ScalarVar& symbol) {
  return Type(ShapeType{.dims = std::vector<Scalar>{use(symbol)}, .rank = 1});
}

std::string scalar_size_words(std::string_view function, std::string_view scalar) {
  return fmt::format("{}: {}, {}", function, scalar, scalar_size_mark);
}

}  // namespace relish
