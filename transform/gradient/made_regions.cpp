// Closing regions, and taking apart what they give.
#include "transform/gradient/made_regions.h"

#include "ir/rewriting/region_aliases.h"

namespace relish {

Region closed_region(FunctionBuilder& builder, std::vector<Expr> results) {
  builder.end_block();
  Region region = builder.end_region(std::move(results));
  drop_aliases(region);
  return region;
}

std::vector<Expr> fields_of(FunctionBuilder& builder, const Expr& value,
                            const std::vector<std::string>& names, Span span) {
  if (names.size() == 1) return {value};
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < names.size(); ++i)
    fields.push_back(builder.emit(tuple_get(value, static_cast<int>(i), span), names[i]));
  return fields;
}

std::vector<Adjoint> by_result(const Adjoint& adjoint, std::size_t count) {
  if (count == 1) return {adjoint};
  std::vector<Adjoint> result = adjoint.fields;
  result.resize(count);
  return result;
}

}  // namespace relish
