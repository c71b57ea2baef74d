// Going over the path of a gradient, into regions and callees.
#include "transform/gradient/rule_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/body_copy.h"
#include "transform/gradient/call_pairs.h"
#include "transform/gradient/given_gradient.h"
#include "transform/gradient/rules.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

constexpr std::string_view unknown_callee =
    "the gradient needs the function that is called; this callee cannot be determined";

}  // namespace

bool RuleCheck::moves(const Expr& value) const {
  const std::vector<Var> used = used_vars(value);
  return std::any_of(used.begin(), used.end(),
                     [&](const Var& var) { return job_.varied.contains(var.id()); });
}

void RuleCheck::check(const std::vector<Binding>& bindings, const std::vector<Expr>& targets) {
  std::unordered_set<std::uint64_t> needed;
  std::vector<Var> pending;
  for (const Expr& target : targets) collect_leaf_vars(target, pending);
  for (const Var& var : pending) needed.insert(var.id());
  for (auto it = bindings.rbegin(); it != bindings.rend(); ++it) {
    if (!needed.contains(it->var().id()) || !job_.varied.contains(it->var().id())) continue;
    for (const Var& used : used_vars(it->value())) needed.insert(used.id());
    check(*it);
  }
}

void RuleCheck::check(const Binding& binding) {
  const Expr& value = binding.value();
  if (const auto written = job_.written_for(value)) {
    const bool by_name = value.as<OpCall>() || value.as<PackedCall>();
    if (by_name && moves(value)) check_written(written->inputs, written->gradient, binding, diagnostics_);
    return;
  }
  const auto* called = value.as<FunctionCall>();
  const auto* global = called ? called->callee.as<GlobalRef>() : nullptr;
  const bool again =
      value.as<If>() || value.as<Loop>() || (global && job_.pairs->reaches_itself(global->name));
  if (way_ == Way::Back && again && has_effects(value)) {
    diagnostics_
        .error(ErrorClass::Type, value.span(), "gradient.missing",
               "this has effects, and a gradient would have them twice; expected a pure value")
        .note("have the effects outside of the if, loop or recursion, on values that it gives");
    return;
  }
  if (const auto* branch = value.as<If>()) {
    for (const RegionPtr& region : {branch->then_region, branch->else_region}) {
      for (const Var& var : vars_of(*region).free)
        if (job_.varied.contains(var.id())) check_passed(var.name(), var.type(), value.span());
      check(all_bindings(region->blocks), region->results);
    }
  } else if (const auto* loop = value.as<Loop>()) {
    check_loop(*loop, value.span());
  } else if (const auto* call = value.as<FunctionCall>()) {
    check_call(*call, value.span());
  } else if (const auto* prim = value.as<CallTir>()) {
    if (!moves(value)) return;
    if (!prim->gradient_name.empty())
      return check_given_gradient(job_.module, *prim, value.span(), diagnostics_);
    const auto takes_part = [&](const Expr& arg) { return job_.reaches(arg); };
    if (way_ == Way::Back)
      job_.prims.check(*prim, value.span(), takes_part, diagnostics_);
    else
      job_.prim_tangents.check(*prim, value.span(), takes_part, diagnostics_);
  } else {
    require_rule(binding, job_.varied, diagnostics_);
  }
}

void RuleCheck::check_passed(const std::string& name, const Type& type, Span span) {
  if (!may_hide_floats(type)) return;
  diagnostics_
      .error(ErrorClass::Type, span, "gradient.missing",
             fmt::format("'{}' has type {} and is on the gradient's path through this; expected a type that "
                         "tells its dtype",
                         name, print(type)))
      .note("write its dtype where it is declared, or bind it with R.match_cast first");
}

void RuleCheck::check_loop(const Loop& loop, Span span) {
  for (const Var& var : vars_of(*loop.body).free)
    if (job_.varied.contains(var.id())) check_passed(var.name(), var.type(), span);
  for (const Var& param : loop.body->params)
    if (job_.varied.contains(param.id())) check_passed(param.name(), param.type(), span);
  check(all_bindings(loop.body->blocks), loop.body->results);
}

namespace {

// Whether all that the function gives and whose type tells nothing is R.null_value(), as of a gradient for
// arguments that have none.
bool hides_nulls_alone(const Function& function) {
  std::unordered_set<std::uint64_t> nulls;
  for (const Binding& binding : all_bindings(function)) {
    const auto* call = binding.value().as<OpCall>();
    if (call && call->op->name == "null_value") nulls.insert(binding.var().id());
  }
  const std::function<bool(const Expr&)> told = [&](const Expr& leaf) {
    if (const auto* fields = leaf.as<TupleExpr>())
      return std::all_of(fields->fields.begin(), fields->fields.end(), told);
    return !may_hide_floats(leaf.type()) || (leaf.as_var() && nulls.contains(leaf.as_var()->id()));
  };
  return told(function.result);
}

}  // namespace

void RuleCheck::check_call(const FunctionCall& call, Span span) {
  const auto* global = call.callee.as<GlobalRef>();
  const FunctionPtr function = global ? job_.module.function(global->name) : nullptr;
  if (!function) {
    diagnostics_.error(ErrorClass::Type, span, "gradient.callee", std::string(unknown_callee))
        .note("call a function of the module by its name, or choose between calls by an if");
    return;
  }
  std::string key = function->name;
  for (const Expr& arg : call.args) key += job_.reaches(arg) ? " 1" : " 0";
  if (!called_.insert(key).second) return;
  const bool open = std::any_of(function->params.begin(), function->params.end(),
                                [](const Var& param) { return param.type().function() != nullptr; });
  if (open) {
    diagnostics_
        .error(ErrorClass::Type, span, "gradient.callee",
               fmt::format("'{}' takes a function as an argument and is called on the gradient's path; "
                           "expected a function of tensors",
                           function->name))
        .note("give it a number that tells which function of the module to call, by an if");
    return;
  }
  for (std::size_t i = 0; i < call.args.size(); ++i)
    if (job_.reaches(call.args[i]))
      check_passed(function->params[i].name(), function->params[i].type(), span);
  if (!hides_nulls_alone(*function)) check_passed(function->name, function->result_type, span);
  FunctionBuilder builder;
  const BodyCopy body = copy_body(job_, *function, builder);
  for (std::size_t i = 0; i < call.args.size(); ++i)
    if (has_floats(function->params[i].type()) && job_.reaches(call.args[i]))
      job_.varied.insert(body.params[i].id());
  job_.vary(body.bindings);
  check(body.bindings, {body.result});
}

}  // namespace relish
