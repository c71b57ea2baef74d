// Closing regions, and taking apart what they give.
#include "transform/gradient/made_regions.h"

#include "ir/rewriting/region_aliases.h"
#include "ir/rewriting/regions.h"
#include "transform/gradient/copies.h"
#include "transform/rebuild.h"

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

namespace {

// With the sizes of another round a value may be known to have less than its variable says: that is a cast
// then, as it is in a text.
void append_told(Binding binding, FunctionBuilder& builder) {
  const auto* plain = std::get_if<VarBinding>(&binding.kind);
  if (plain && plain->value.as<OpCall>() && fits(plain->value.type(), plain->var.type()) == Fit::Maybe) {
    const Expr value = builder.emit(plain->value, "lv");
    binding.kind = MatchCast{plain->var, value, plain->var.type()};
  }
  builder.append(std::move(binding));
}

}  // namespace

std::vector<Expr> replayed(const Cut& cut, const Region& back, VarMap& vars, const ScalarMap& scalars,
                           FunctionBuilder& builder) {
  BindingBlock again;
  again.bindings = cut.again;
  for (const Binding& binding : fresh_bindings({again}, builder, vars, scalars))
    append_told(binding, builder);
  for (const Binding& binding : all_bindings(back.blocks))
    append_told(copy_binding(binding, vars, scalars), builder);
  std::vector<Expr> results;
  for (const Expr& result : back.results) results.push_back(substitute(result, vars, scalars));
  return results;
}

void append_completed(const Binding& binding, const Expr& value, const std::vector<std::string>& names,
                      const std::vector<Var>& added, FunctionBuilder& builder) {
  const std::size_t count = names.size();
  Binding first = binding;
  if (added.empty()) {
    first.kind = VarBinding{binding.var(), value};
    return builder.append(first);
  }
  const Span span = value.span();
  const Expr whole = builder.emit(value, "lv");
  const auto field = [&](std::size_t i) { return tuple_get(whole, static_cast<int>(i), span); };
  std::vector<Expr> fields;
  if (count == 1) {
    first.kind = VarBinding{binding.var(), field(0)};
    builder.append(first);
  } else {
    for (std::size_t i = 0; i < count; ++i) fields.push_back(builder.emit(field(i), names[i]));
  }
  for (std::size_t k = 0; k < added.size(); ++k) {
    Binding extra;
    extra.kind = VarBinding{added[k], field(count + k)};
    extra.span = span;
    builder.append(extra);
  }
  if (count == 1) return;
  first.kind = VarBinding{binding.var(), tuple(std::move(fields), span)};
  builder.append(first);
}

std::vector<Adjoint> by_result(const Adjoint& adjoint, std::size_t count) {
  if (count == 1) return {adjoint};
  std::vector<Adjoint> result = adjoint.fields;
  result.resize(count);
  return result;
}

Expr as_carried(const Expr& value, const Type& type, const std::string& name, FunctionBuilder& builder) {
  if (same_type(join(value.type(), type), type)) return value;
  Binding cast;
  cast.kind = MatchCast{Var(builder.fresh_name(name), type, false, builder.origin()), value, type};
  cast.span = builder.origin();
  builder.append(cast);
  return Expr(cast.var());
}

Type carried_type(const Expr& initial, const Type& type) {
  return same_type(initial.type(), type) ? initial.type() : type;
}

}  // namespace relish
