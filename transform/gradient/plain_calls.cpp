// Following values of function type to what they stand for.
#include "transform/gradient/plain_calls.h"

#include <unordered_set>

#include "ir/nodes/builder.h"
#include "ir/rewriting/expr_mapper.h"
#include "ir/rewriting/rewrite.h"
#include "transform/dead_code.h"
#include "transform/gradient/copies.h"
#include "transform/inline_calls.h"
#include "transform/lift_bodies.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

bool holds_function(const Type& type) {
  if (type.function()) return true;
  const TupleType* tuple = type.tuple();
  if (!tuple) return false;
  for (const Type& field : tuple->fields)
    if (holds_function(field)) return true;
  return false;
}

bool has_function_values(const Function& function) {
  bool found = holds_function(function.result_type);
  for (const Var& param : function.params) found = found || holds_function(param.type());
  for_each_binding(function,
                   [&](const Binding& each) { found = found || holds_function(each.var().type()); });
  return found;
}

// Calls name what they call, as far as the text tells: through names of names, fields of tuples, and ifs, of
// which each branch then holds a call.
class CalleesNamed final : public ExprMapper {
 public:
  explicit CalleesNamed(const Function& function) { reserve_names(function, builder_); }

 private:
  void map_binding(const Binding& binding, bool dataflow, std::vector<Binding>& into) override {
    const auto* plain = std::get_if<VarBinding>(&binding.kind);
    if (plain && holds_function(plain->var.type())) values_.insert_or_assign(plain->var.id(), plain->value);
    const auto* call = plain ? plain->value.as<FunctionCall>() : nullptr;
    const If* chosen = call && !dataflow ? choice(call->callee) : nullptr;
    if (!chosen) return into.push_back(map(binding));
    Binding made = binding;
    made.kind = VarBinding{plain->var, called_in_branches(*chosen, *call, plain->value.span())};
    into.push_back(map(made));
  }

  Expr leave(const Expr& mapped) override {
    const auto* call = mapped.as<FunctionCall>();
    if (!call || !call->callee.as_var()) return mapped;
    const Expr callee = source_of(call->callee);
    if (callee.same_as(call->callee)) return mapped;
    const Var* var = callee.as_var();
    const bool names = callee.as<GlobalRef>() || (var && is_nested(*var));
    return names ? function_call(callee, call->args, mapped.span()) : mapped;
  }

  Expr value_of(const Var& var) const {
    const auto found = values_.find(var.id());
    return found == values_.end() ? Expr() : found->second;
  }
  bool is_nested(const Var& var) const {
    const Expr value = value_of(var);
    return value.defined() && value.as<FunctionExpr>();
  }

  // The leaf at the beginning of a chain of names and fields.
  Expr source_of(Expr leaf) const {
    while (const Var* var = leaf.as_var()) {
      Expr value = value_of(*var);
      if (!value.defined()) break;
      if (const auto* field = value.as<TupleGet>()) {
        const Expr whole = source_of(field->tuple);
        const Expr made = whole.as_var() ? value_of(*whole.as_var()) : whole;
        const auto* literal = made.defined() ? made.as<TupleExpr>() : nullptr;
        if (!literal) break;
        value = literal->fields[static_cast<std::size_t>(field->index)];
      }
      if (!value.as_var() && !value.as<GlobalRef>()) break;
      leaf = value;
    }
    return leaf;
  }

  // The if that gives the callee, of which the branches can be gone through again.
  const If* choice(const Expr& callee) {
    const Expr leaf = source_of(callee);
    const Var* var = leaf.as_var();
    const auto found = var ? values_.find(var->id()) : values_.end();
    const If* made = found == values_.end() ? nullptr : found->second.as<If>();
    const bool again = made && made->then_region->results.size() == 1 && !has_effects(found->second);
    return again ? made : nullptr;
  }

  Expr called_in_branches(const If& chosen, const FunctionCall& call, Span span) {
    builder_.set_origin(span);
    const auto branch = [&](const Region& region) {
      VarMap vars;
      builder_.begin_region();
      builder_.begin_block(false);
      for (const Binding& each : fresh_bindings(region.blocks, builder_, vars)) builder_.append(each);
      const Expr callee = substitute(region.results.front(), vars);
      const Expr result = builder_.emit(function_call(callee, call.args, span));
      builder_.end_block();
      return builder_.end_region({result});
    };
    Region first = branch(*chosen.then_region);
    Region second = branch(*chosen.else_region);
    return if_expr(chosen.condition, std::move(first), std::move(second), span);
  }

  FunctionBuilder builder_;                         // for names, and for branches
  std::unordered_map<std::uint64_t, Expr> values_;  // of what is a function or holds one, by variable
};

void name_callees(Module& module) {
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const auto* held = std::get_if<FunctionPtr>(&module.functions[i]);
    if (!held || !has_function_values(**held)) continue;
    const FunctionPtr function = *held;
    const FunctionPtr named = CalleesNamed(*function).map(function);
    // A function that was a value for its calls alone is none without what held it.
    if (named != function) module.functions.replace(i, eliminate_dead_bindings(named));
  }
}

}  // namespace

PlainFunctions with_plain_calls(const Module& module) {
  PlainFunctions result;
  bool any = false;
  for (const GlobalFunction& global : module.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    any = any || (function && has_function_values(**function));
  }
  if (!any) return result;
  Module plain = module;
  name_callees(plain);
  plain = with_function_values_inlined(plain);
  name_callees(plain);
  plain = lambda_lift(plain);
  for (const GlobalFunction& global : plain.functions) {
    const auto* function = std::get_if<FunctionPtr>(&global);
    if (!function) continue;
    const FunctionPtr before = module.function((*function)->name);
    if (!before)
      result.added.push_back(*function);
    else if (before != *function)
      result.bodies.emplace((*function)->name, *function);
  }
  return result;
}

}  // namespace relish
