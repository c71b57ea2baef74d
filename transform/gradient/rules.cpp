// Applying the gradient rules of operators.
#include "transform/gradient/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/calls/call_layout.h"
#include "ir/operators/op.h"
#include "support/failure.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// How users write a rule for an operator.
std::string own_rule(const Op& op) {
  return fmt::format("write a gradient of your own, with R.func_attr({{\"relish.gradient_of\": \"R.{}\"}})",
                     op.name);
}

// A gradient through a parameter that has none is refused: it would be a silent zero.
void require_free_params(const OpCall& call, Span span, const std::unordered_set<std::uint64_t>& varied,
                         Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < call.args.size() && i < call.op->params.size(); ++i) {
    const std::string_view name = call.op->params[i].name;
    const auto& fixed = call.op->fixed_params;
    if (std::find(fixed.begin(), fixed.end(), name) == fixed.end()) continue;
    const Var* var = call.args[i].as_var();
    if (!var || !varied.contains(var->id())) continue;
    diagnostics
        .error(ErrorClass::Type, span, "gradient.missing",
               fmt::format("R.{} is not differentiable in {}: {}", call.op->name, name, call.op->no_gradient))
        .note(fmt::format("give it R.grad.no_grad({}), or {}", var->name(), own_rule(*call.op)));
  }
}

// What `apply` gives. A rule may ask for what the types of its operands do not tell.
template <class F>
auto by_rule(const OpCall& call, const F& apply) {
  const auto told = [](const Expr& arg) { return fully_known(arg.type()); };
  try {
    return apply();
  } catch (Failure& failure) {
    if (failure.error_class() == ErrorClass::Type && !std::all_of(call.args.begin(), call.args.end(), told))
      failure.note({},
                   "bind the operand before, with R.match_cast to a type that tells its shape and dtype, as "
                   "R.Tensor((\"n\", 4), \"float32\")");
    throw;
  }
}

}  // namespace

void require_rule(const Binding& binding, const std::unordered_set<std::uint64_t>& varied,
                  Diagnostics& diagnostics) {
  const Expr& value = binding.value();
  if (const auto* call = value.as<OpCall>()) {
    if (call->op->vjp) return require_free_params(*call, value.span(), varied, diagnostics);
    if (call->op->zero_gradient) return;
    diagnostics
        .error(ErrorClass::Type, value.span(), "gradient.missing",
               fmt::format("R.{} is not differentiable: {}", call->op->name, call->op->no_gradient))
        .note(fmt::format("put R.grad.no_grad around its result, or {}", own_rule(*call->op)));
    return;
  }
  std::string_view what = value.as<PackedCall>()     ? "a native call"
                          : value.as<FunctionExpr>() ? "a nested function"
                                                     : "";
  if (what.empty()) return;
  bool reached = false;
  for (const Var& var : used_vars(value)) reached = reached || varied.contains(var.id());
  if (!reached) return;
  diagnostics
      .error(ErrorClass::Type, value.span(), "gradient.missing",
             fmt::format("{} is on the gradient's path, and has no gradient rule", what))
      .note(value.as<PackedCall>()
                ? "write it as R.call_dps_packed of a symbol, and a gradient of your own with "
                  "R.func_attr({\"relish.gradient_of\": that symbol}); or put R.grad.no_grad around its "
                  "result"
                : "call it where it stands, or make it a function of the module");
}

namespace {

// How often each variable is used by the bindings and partials.
std::unordered_map<std::uint64_t, int> count_uses(const std::vector<Binding>& bindings,
                                                  const std::vector<std::optional<Expr>>& partials) {
  std::unordered_map<std::uint64_t, int> uses;
  for (const Binding& binding : bindings)
    for (const Var& var : used_vars(binding.value())) ++uses[var.id()];
  for (const std::optional<Expr>& partial : partials) {
    if (!partial) continue;
    for (const Var& var : used_vars(*partial)) ++uses[var.id()];
  }
  return uses;
}

// The variables that are the partial, or fields of it.
void collect_handed_out(const Expr& partial, std::unordered_set<std::uint64_t>& into) {
  if (const auto* literal = partial.as<TupleExpr>()) {
    for (const Expr& field : literal->fields) collect_handed_out(field, into);
  } else if (partial.as_var()) {
    into.insert(partial.as_var()->id());
  }
}

}  // namespace

std::vector<Partial> rule_partials(const OpCall& call, const Expr& value, const Var& result,
                                   const Expr& cotangent, FunctionBuilder& builder,
                                   std::vector<bool> arrived) {
  std::vector<Partial> partials(call.args.size());
  if (!call.op->vjp) return partials;
  FunctionBuilder scratch;
  scratch.set_origin(builder.origin());
  scratch.begin_block(true);
  const CallView view{*call.op, call.args, call.attributes, value.span()};
  const Expr result_ref(result);
  std::vector<std::optional<Expr>> rule = by_rule(
      call, [&] { return call.op->vjp(VjpCall{view, result_ref, cotangent, scratch, std::move(arrived)}); });
  RELISH_CHECK(rule.size() == call.args.size(), std::string(call.op->name));
  scratch.end_block();
  std::vector<Binding> steps = scratch.take_bindings();

  // A step whose only use is to be a partial is handed out unbound; the others go into the function.
  const auto uses = count_uses(steps, rule);
  std::unordered_set<std::uint64_t> partial_vars;
  for (const std::optional<Expr>& partial : rule)
    if (partial) collect_handed_out(*partial, partial_vars);
  std::unordered_map<std::uint64_t, Expr> unbound;
  VarMap renamed;
  for (const Binding& step : steps) {
    const Var& var = step.var();
    const Expr step_value = substitute(step.value(), renamed);
    if (partial_vars.contains(var.id()) && uses.at(var.id()) == 1)
      unbound.emplace(var.id(), step_value);
    else
      renamed.insert_or_assign(var.id(), Expr(builder.bind(step_value, var.name())));
  }
  for (std::size_t i = 0; i < rule.size(); ++i) {
    if (!rule[i]) continue;
    const auto handed_out = [&](const Expr& leaf) {
      const Var* var = leaf.as_var();
      const auto found = var ? unbound.find(var->id()) : unbound.end();
      return found != unbound.end() ? found->second : substitute(leaf, renamed);
    };
    if (const auto* literal = rule[i]->as<TupleExpr>()) {
      std::vector<Expr> fields;
      for (const Expr& field : literal->fields) fields.push_back(handed_out(field));
      partials[i].value = tuple(std::move(fields), rule[i]->span());
    } else {
      partials[i].value = handed_out(*rule[i]);
    }
  }
  return partials;
}

std::vector<Binding> written_out(const Binding& binding, FunctionBuilder& builder) {
  const auto* call = binding.value().as<OpCall>();
  if (!call || !call->op->parts) return {};
  FunctionBuilder scratch;
  scratch.set_origin(binding.span);
  scratch.begin_block(true);
  const CallView view{*call->op, call->args, call->attributes, binding.value().span()};
  const Expr value = by_rule(*call, [&] { return call->op->parts(VjpCall{view, Expr(), Expr(), scratch}); });
  scratch.end_block();
  std::vector<Binding> result;
  VarMap renamed;
  for (Binding& step : scratch.take_bindings()) {
    const Var old = step.var();
    const Var var(builder.fresh_name(old.name()), old.type(), false, binding.span);
    step.kind = VarBinding{var, substitute(step.value(), renamed)};
    renamed.insert_or_assign(old.id(), Expr(var));
    result.push_back(std::move(step));
  }
  Binding last = binding;
  const Expr whole = substitute(value, renamed);
  if (same_type(whole.type(), binding.var().type()))
    last.kind = VarBinding{binding.var(), whole};
  else
    last.kind = MatchCast{binding.var(), whole, binding.var().type()};
  result.push_back(std::move(last));
  return result;
}

Expr call_of_written(const std::vector<Expr>& inputs, const FunctionPtr& written, const Var& output,
                     const Expr& cotangent, FunctionBuilder& builder) {
  std::vector<Expr> args = inputs;
  if (const TupleType* outputs = output.type().tuple()) {
    for (int i = 0; i < static_cast<int>(outputs->fields.size()); ++i)
      args.push_back(builder.emit(tuple_get(Expr(output), i, builder.origin()), "lv"));
    for (const Expr& field : cotangent.as<TupleExpr>()->fields) args.push_back(field);
  } else {
    args.emplace_back(output);
    args.push_back(cotangent);
  }
  return builder.emit(
      function_call(global_ref(GlobalFunction(written), builder.origin()), args, builder.origin()), "lv");
}

Expr written_partial(const Expr& gradients, int i, const FunctionBuilder& builder) {
  return gradients.type().tuple() ? tuple_get(gradients, i, builder.origin()) : gradients;
}

// A function of tensors of any shape does not tell that its gradients have the shapes of its inputs.
Expr shaped_as(const Expr& partial, const Type& type, FunctionBuilder& builder) {
  const TensorType *given = partial.type().tensor(), *wanted = type.tensor();
  if (!given || given->shape || !wanted || !wanted->shape || fits(partial.type(), type) != Fit::Maybe)
    return partial;
  const Expr leaf = is_leaf(partial) ? partial : builder.emit(partial, "lv");
  Binding cast;
  cast.kind = MatchCast{Var(builder.fresh_name("lv"), type, false, builder.origin()), leaf, type};
  cast.span = builder.origin();
  builder.append(cast);
  return Expr(cast.var());
}

std::vector<Expr> inputs_in_order(const PrimFunc& function, const CallTir& call, Span span) {
  std::vector<Expr> inputs;
  for (const ParamSource& source : call_layout(function, call, span))
    if (source.kind == ParamSource::Argument) inputs.push_back(call.args[source.index]);
  return inputs;
}

}  // namespace relish
