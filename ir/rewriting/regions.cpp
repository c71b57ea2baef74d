// Walks over the bodies inside values, and values over changed bodies.
#include "ir/rewriting/regions.h"

#include "ir/rewriting/rewrite.h"

namespace relish {

void for_each_body(const Expr& value, const std::function<void(const Body&)>& visit) {
  const auto region = [&](const Region& each) { visit({each.params, each.blocks, each.results}); };
  if (const auto* branch = value.as<If>()) {
    region(*branch->then_region);
    region(*branch->else_region);
  } else if (const auto* loop = value.as<Loop>()) {
    if (loop->condition) region(*loop->condition);
    region(*loop->body);
  } else if (const auto* nested = value.as<FunctionExpr>()) {
    const Function& function = *nested->function;
    visit({function.params, function.blocks, std::span(&function.result, 1)});
  }
}

std::vector<Binding> all_bindings(const std::vector<BindingBlock>& blocks) {
  std::vector<Binding> bindings;
  for (const BindingBlock& block : blocks)
    bindings.insert(bindings.end(), block.bindings.begin(), block.bindings.end());
  return bindings;
}

std::vector<Binding> all_bindings(const Function& function) { return all_bindings(function.blocks); }

namespace {

void note_bound(const Body& body, std::unordered_set<std::uint64_t>& bound) {
  for (const Var& param : body.params) bound.insert(param.id());
  for (const BindingBlock& block : body.blocks) {
    for (const Binding& binding : block.bindings) {
      bound.insert(binding.var().id());
      // Bodies stand in the values of bindings, never inside an operand.
      for_each_body(binding.value(), [&](const Body& inner) { note_bound(inner, bound); });
    }
  }
}

template <class Whole>
BodyVars vars_in(const Whole& whole, const Body& body) {
  BodyVars vars;
  note_bound(body, vars.bound);
  std::unordered_set<std::uint64_t> seen;
  for_each_expr(whole, [&](const Expr& expr) {
    const Var* var = expr.as_var();
    if (var && !vars.bound.contains(var->id()) && seen.insert(var->id()).second) vars.free.push_back(*var);
  });
  return vars;
}

}  // namespace

BodyVars vars_of(const Function& function) {
  return vars_in(function, {function.params, function.blocks, std::span(&function.result, 1)});
}

BodyVars vars_of(const Region& region) {
  return vars_in(region, {region.params, region.blocks, region.results});
}

Expr with_regions(const If& branch, const ChangeRegion& change, Span span) {
  Region then_region = change(*branch.then_region, RegionRole::Then);
  Region else_region = change(*branch.else_region, RegionRole::Else);
  return if_expr(branch.condition, std::move(then_region), std::move(else_region), span);
}

Expr with_regions(Loop loop, const ChangeRegion& change, Span span) {
  if (loop.condition)
    loop.condition = std::make_shared<const Region>(change(*loop.condition, RegionRole::Condition));
  loop.body = std::make_shared<const Region>(change(*loop.body, RegionRole::Body));
  return loop_expr(std::move(loop), span);
}

}  // namespace relish
