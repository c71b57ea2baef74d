// Replacing variables by leaves, as far as dataflow blocks let them be seen.
#include "transform/binding_replacer.h"

#include "transform/rebuild.h"

namespace relish {
namespace {

bool mentions_dataflow_vars(const Expr& value) {
  for (const Var& var : used_vars(value))
    if (var.dataflow()) return true;
  return false;
}

}  // namespace

void BindingReplacer::take_over(Binding mapped, bool dataflow, const Expr& leaf, std::vector<Binding>& into) {
  const Var& var = mapped.var();
  // The output of a dataflow block is seen behind it, its other variables are not.
  const bool seen = !dataflow || var.dataflow() || !mentions_dataflow_vars(leaf);
  if (seen && same_type(var.type(), leaf.type())) {
    leaves_.insert_or_assign(var.id(), leaf);
    return;
  }
  mapped.kind = VarBinding{var, leaf};
  keep(std::move(mapped), into);
}

void BindingReplacer::keep(Binding mapped, std::vector<Binding>& into) {
  const auto* plain = std::get_if<VarBinding>(&mapped.kind);
  const bool holds_bodies =
      mapped.value().as<If>() || mapped.value().as<Loop>() || mapped.value().as<FunctionExpr>();
  if (plain && !holds_bodies)
    values_.insert_or_assign(plain->var.id(), Held{plain->value, mentions_dataflow_vars(plain->value)});
  into.push_back(std::move(mapped));
}

void BindingReplacer::put(Binding mapped, bool dataflow, std::vector<Binding>& into) {
  const auto* plain = std::get_if<VarBinding>(&mapped.kind);
  if (plain && plain->value.as_var()) {
    const Expr leaf = plain->value;
    take_over(std::move(mapped), dataflow, leaf, into);
  } else {
    keep(std::move(mapped), into);
  }
}

Expr BindingReplacer::value_of(const Expr& leaf) const {
  const Var* var = leaf.as_var();
  const auto found = var ? values_.find(var->id()) : values_.end();
  if (found == values_.end() || (found->second.of_block && !var->dataflow())) return {};
  return found->second.value;
}

Expr BindingReplacer::map_var(const Expr& expr, const Var& var) {
  const auto found = leaves_.find(var.id());
  if (found == leaves_.end()) return expr;
  const Var* leaf = found->second.as_var();
  return leaf ? var_ref(*leaf, expr.span()) : found->second;
}

}  // namespace relish
