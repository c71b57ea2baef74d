// Names of names, fields of tuples at hand, casts that say nothing.
#include "transform/canonicalize.h"

#include <iterator>
#include <unordered_map>

#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "transform/binding_replacer.h"
#include "transform/dead_code.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

class Canonicalizer : public BindingReplacer {
 protected:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    Binding mapped = map(binding);
    const auto* cast = std::get_if<MatchCast>(&mapped.kind);
    if (!cast || !same_type(cast->value.type(), cast->type)) return put(std::move(mapped), dataflow, into);
    // Every size in it is known to be what the cast says, so it binds and checks nothing.
    mapped.kind = VarBinding{cast->var, cast->value};
    put(std::move(mapped), dataflow, into);
  }

  Expr leave(const Expr& mapped) override {
    const auto* get = mapped.as<TupleGet>();
    if (!get) return mapped;
    const Expr whole = get->tuple.as<TupleExpr>() ? get->tuple : value_of(get->tuple);
    const auto* made = whole.as<TupleExpr>();
    return made ? made->fields[static_cast<std::size_t>(get->index)] : mapped;
  }
};

}  // namespace

FunctionPtr canonicalized(const FunctionPtr& function) {
  const FunctionPtr mapped = Canonicalizer().map(function);
  return mapped == function ? function : eliminate_dead_bindings(mapped);
}

FunctionPtr with_tuples_taken_apart(const FunctionPtr& function) {
  auto made = std::make_shared<Function>(*Canonicalizer().map(function));
  std::unordered_map<std::uint64_t, int> uses;
  const auto count = [&](const Expr& value, int by) {
    for_each_expr(value, [&](const Expr& expr) {
      if (const Var* var = expr.as_var()) uses[var->id()] += by;
    });
  };
  for_each_expr(*made, [&](const Expr& expr) {
    if (const Var* var = expr.as_var()) ++uses[var->id()];
  });
  for (std::size_t b = made->blocks.size(); b-- > 0;) {
    std::vector<Binding> kept;
    std::vector<Binding>& bindings = made->blocks[b].bindings;
    for (std::size_t i = bindings.size(); i-- > 0;) {
      const auto* plain = std::get_if<VarBinding>(&bindings[i].kind);
      const bool moves = plain && (plain->value.as<TupleExpr>() || plain->value.as<TupleGet>());
      if (moves && uses[plain->var.id()] == 0)
        count(plain->value, -1);
      else
        kept.push_back(std::move(bindings[i]));
    }
    bindings.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  }
  return made;
}

Module canonicalize(const Module& module) {
  Module result = module;
  for (std::size_t i = 0; i < result.functions.size(); ++i) {
    const auto* function = std::get_if<FunctionPtr>(&result.functions[i]);
    if (!function) continue;
    const FunctionPtr mapped = canonicalized(*function);
    if (mapped != *function) result.functions.replace(i, mapped);
  }
  verify_after(result, "canonicalize");
  return result;
}

}  // namespace relish
