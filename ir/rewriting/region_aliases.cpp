// Bindings at the end of a region that only give its results other names.
#include "ir/rewriting/region_aliases.h"

#include <algorithm>

#include "ir/nodes/builder.h"

namespace relish {

bool mentions(const Expr& leaf, const Var& var) {
  if (const Var* own = leaf.as_var()) return *own == var;
  const auto* fields = leaf.as<TupleExpr>();
  return fields && std::any_of(fields->fields.begin(), fields->fields.end(),
                               [&](const Expr& field) { return mentions(field, var); });
}

const VarBinding* as_alias(const Binding& binding) {
  const auto* bound = std::get_if<VarBinding>(&binding.kind);
  bool alias = bound && is_leaf(bound->value) && same_type(bound->var.type(), bound->value.type());
  return alias ? bound : nullptr;
}

void append_comments(Comments& into, const CommentsPtr& comments) {
  if (!comments) return;
  into.before.insert(into.before.end(), comments->before.begin(), comments->before.end());
  if (!comments->after.empty()) into.before.push_back(comments->after);
}

void drop_aliases(Region& region) {
  Comments kept;
  while (!region.blocks.empty() && !region.blocks.back().dataflow) {
    std::vector<Binding>& bindings = region.blocks.back().bindings;
    const VarBinding* alias = as_alias(bindings.back());
    if (!alias) break;
    auto is_alias = [&](const Expr& result) { return result.as_var() && *result.as_var() == alias->var; };
    bool result = std::any_of(region.results.begin(), region.results.end(), is_alias);
    bool used = std::any_of(region.results.begin(), region.results.end(), [&](const Expr& other) {
      return !is_alias(other) && mentions(other, alias->var);
    });
    if (!result || used) break;
    for (Expr& each : region.results) {
      if (is_alias(each)) each = alias->value;
    }
    Comments own;
    append_comments(own, bindings.back().comments);
    kept.before.insert(kept.before.begin(), own.before.begin(), own.before.end());
    bindings.pop_back();
    if (bindings.empty()) region.blocks.pop_back();
  }
  if (kept.before.empty()) return;
  append_comments(kept, region.end_comments);
  region.end_comments = std::make_shared<const Comments>(std::move(kept));
}

}  // namespace relish
