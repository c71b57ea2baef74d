// One block of bindings that may be results.
#include "ir/rewriting/observed.h"

#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

bool is_observed(const Type& type) {
  if (const TupleType* fields = type.tuple()) {
    for (const Type& field : fields->fields)
      if (!is_observed(field)) return false;
    return !fields->fields.empty();
  }
  return type.tensor() != nullptr;
}

// What an if or a loop with several results gives has no name in a text: its fields have.
bool gives_several(const Expr& value) {
  if (const auto* branch = value.as<If>()) return branch->then_region->results.size() > 1;
  const auto* loop = value.as<Loop>();
  return loop && loop->body->params.size() > 1;
}

}  // namespace

ObservedFunction observed_function(const Function& source, const std::string& name) {
  ObservedFunction made;
  const Function fresh = copy_with_fresh_vars(source);
  made.function = fresh;
  made.function.name = name;
  made.function.attributes.clear();
  made.function.blocks.clear();
  BindingBlock block;
  VarMap vars;
  std::vector<Expr> results;
  for (const Binding& binding : all_bindings(fresh)) {
    const Var& old = binding.var();
    const Var var(old.name(), old.type(), false, old.span());
    Binding copy = binding;
    if (binding.value().as<FunctionExpr>()) vars.insert_or_assign(old.id(), Expr(var));
    if (const auto* match = std::get_if<MatchCast>(&binding.kind)) {
      copy.kind = MatchCast{var, substitute(match->value, vars), match->type};
    } else {
      copy.kind = VarBinding{var, substitute(binding.value(), vars)};
    }
    vars.insert_or_assign(old.id(), Expr(var));
    block.bindings.push_back(copy);
    if (!is_observed(var.type()) || gives_several(binding.value())) continue;
    results.push_back(Expr(var));
    made.bindings.push_back(std::move(copy));
  }
  if (!block.bindings.empty()) made.function.blocks.push_back(std::move(block));
  made.function.result = tuple(std::move(results));
  made.function.result_type = made.function.result.type();
  return made;
}

}  // namespace relish
