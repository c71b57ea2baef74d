// Reading and removing the marks.
#include "transform/gradient/checkpoints.h"

#include <algorithm>

#include "ir/operators/value_marks.h"
#include "transform/binding_replacer.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// The tensor between whose marks a value stands; null for what is no mark.
const Expr* checkpointed(const Binding& binding) {
  const auto* plain = std::get_if<VarBinding>(&binding.kind);
  const auto* call = plain ? plain->value.as<OpCall>() : nullptr;
  return call && (is_checkpoint_start(*call) || is_checkpoint_end(*call)) ? &call->args[0] : nullptr;
}

class MarkRemover final : public BindingReplacer {
 private:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const Expr* marked = checkpointed(mapped);
    if (!marked) return keep(std::move(mapped), into);
    const Expr leaf = *marked;
    take_over(std::move(mapped), dataflow, leaf, into);
  }
};

}  // namespace

ValueIds values_between_marks(const std::vector<Binding>& bindings) {
  ValueIds between, again;  // `between` has the starts too
  for (const Binding& binding : bindings) {
    if (const Expr* marked = checkpointed(binding)) {
      const Var* tensor = marked->as_var();
      if (!is_checkpoint_start(*binding.value().as<OpCall>())) continue;
      between.insert(binding.var().id());
      if (tensor) again.erase(tensor->id());
      continue;
    }
    const std::vector<Var> used = used_vars(binding.value());
    if (std::none_of(used.begin(), used.end(), [&](const Var& var) { return between.contains(var.id()); }))
      continue;
    between.insert(binding.var().id());
    again.insert(binding.var().id());
  }
  return again;
}

std::vector<Binding> without_marks(const std::vector<Binding>& bindings, VarMap& renamed) {
  std::vector<Binding> result;
  for (const Binding& binding : bindings) {
    const Binding over = substitute(binding, renamed);
    if (const Expr* marked = checkpointed(over))
      renamed.insert_or_assign(binding.var().id(), *marked);
    else
      result.push_back(over);
  }
  return result;
}

FunctionPtr without_marks(Function&& function) {
  return MarkRemover().map(std::make_shared<const Function>(std::move(function)));
}

}  // namespace relish
