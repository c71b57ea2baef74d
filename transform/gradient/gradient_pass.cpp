// Writing both ways, and closing them.
#include "transform/gradient/gradient_pass.h"

#include "ir/calls/roles.h"
#include "ir/printer/reserved_names.h"
#include "ir/verify/verify.h"
#include "transform/gradient/path_account.h"
#include "transform/gradient/recomputation.h"
#include "transform/rebuild.h"
#include "transform/transpose_cleanup.h"

namespace relish {

GradientPass::GradientPass(const Module& module, const Function& function, Keeping keeping)
    : subject_(module, function) {
  subject_.job.keeping = keeping;
}

std::vector<GradientLine> GradientPass::account(const GradientOptions& options) {
  PathAccount account;
  subject_.job.account = &account;
  account.enter(subject_.source.name);
  write_adjoint(options);
  for (const Binding& binding : ahead_)
    if (marked_.contains(binding.var().id())) account.keep(binding.var(), "computed again", 0);
  return account.lines();
}

namespace {

// The value with the sizes of the type, which are known by now.
Expr as_result(const Expr& value, const Type& type, FunctionBuilder& builder) {
  if (same_type(value.type(), type)) return value;
  if (const TupleType* fields = type.tuple()) {
    std::vector<Expr> values;
    for (std::size_t i = 0; i < fields->fields.size(); ++i) {
      const Expr field = builder.emit(tuple_get(value, static_cast<int>(i), builder.origin()), "lv");
      values.push_back(as_result(field, fields->fields[i], builder));
    }
    return builder.emit(tuple(std::move(values), builder.origin()), "lv");
  }
  if (!type.tensor()) return value;
  Binding cast;
  cast.kind = MatchCast{Var(builder.fresh_name("lv"), type, true, builder.origin()), value, type};
  cast.span = builder.origin();
  builder.append(cast);
  return Expr(cast.var());
}

}  // namespace

void GradientPass::write_adjoint(const GradientOptions& options) {
  subject_.choose(options.wrt, false);
  const Expr target = subject_.scalar_target(options.target);
  subject_.require_rules({target}, Way::Back);
  forward(target);
  if (const Var* seed = target.as_var()) {
    const Expr one = op_call("ones", {shape_literal({})},
                             {{"dtype", Attribute(std::string(name_of(*target.type().tensor()->dtype)))}},
                             place_of(target));
    reverse_.of(*seed).value = Expr(subject_.builder.bind(one, seed->name() + "_adjoint"));
  }
  reverse_.backward();
  close("_adjoint", subject_.body.params);
}

void GradientPass::write_vjp(const DerivativeOptions& options) {
  subject_.choose(options.wrt, false);
  subject_.require_floating_result();
  const Expr& result = subject_.body.result;
  subject_.require_rules({result}, Way::Back);
  forward(result);
  std::vector<Var> params = subject_.body.params;
  // Callers know the sizes that the text tells, not those that the body names.
  const Var given(subject_.builder.fresh_name("ct"), subject_.source.result_type, false,
                  subject_.source.span);
  params.push_back(given);
  reverse_.seed(result, reverse_.as_adjoint(as_result(given, result.type(), subject_.builder)));
  reverse_.backward();
  close("_vjp", std::move(params));
}

// A result may be the name of a value that the text does not name.
Span GradientPass::place_of(const Expr& target) const {
  return target.span().known() ? target.span() : subject_.result_span();
}

void GradientPass::forward(const Expr& target) {
  subject_.builder.begin_block(false);
  reverse_.forward(subject_.body.bindings, {target});
  subject_.builder.end_block();
  forward_ = subject_.builder.take_bindings();
  subject_.builder.begin_block(true);
  subject_.builder.set_origin(place_of(target));
}

void GradientPass::name_gradients(Module& made) const {
  Function adjoint = *made.function(name_);
  RoleSlot gradients{Role::Gradients, {}, true};
  for (const Var& var : subject_.wrt) gradients.names.push_back(var.name());
  const RoleSignature roles{"adjoint",
                            std::vector<RoleSlot>(adjoint.params.size(), {Role::Input}),
                            {{Role::Output}, std::move(gradients)},
                            true};
  adjoint.attributes = with_attribute(std::move(adjoint.attributes), role_attribute, print(roles));
  made.set(std::make_shared<const Function>(std::move(adjoint)));
  verify_after(made, "gradient");
}

// What the way back uses of the way there.
void GradientPass::tell(const std::vector<Binding>& backward) const {
  for (const Binding& binding : backward)
    for (const Var& var : used_vars(binding.value()))
      subject_.job.account->keep(var, "to the end", bytes_of(var.type()));
}

void GradientPass::close(const std::string& suffix, std::vector<Var> params) {
  FunctionBuilder& builder = subject_.builder;
  const Span span = subject_.source.span;
  std::vector<Expr> gradients;
  for (const Var& var : subject_.wrt) {
    builder.set_origin(var.span());
    Expr gradient = reverse_.as_expr(reverse_.of(var), var.type(), Expr(var));
    if (!gradient.as<TupleExpr>()) gradient = Expr(builder.bind(gradient, var.name() + "_adjoint_out"));
    gradients.push_back(gradient);
  }
  builder.end_block();
  std::vector<Binding> bindings = std::move(forward_);
  reverse_.complete(bindings);
  const std::size_t ahead = bindings.size();
  const std::vector<Binding> backward = builder.take_bindings();
  if (subject_.job.account) tell(backward);
  bindings.insert(bindings.end(), backward.begin(), backward.end());
  VarMap renamed;
  bindings = simplify_transposes(std::move(bindings), ahead, builder, renamed);
  for (Expr& gradient : gradients) gradient = substitute(gradient, renamed);
  name_ = subject_.source.name + suffix;
  params_ = std::move(params);
  result_ = tuple({subject_.body.result, tuple(gradients, span)}, span);
  const auto middle = bindings.begin() + static_cast<std::ptrdiff_t>(ahead);
  ahead_.assign(bindings.begin(), middle);
  back_.assign(middle, bindings.end());
  marked_ = values_to_compute_again(ahead_, subject_.job.again);
}

Module GradientPass::made(const ValueIds& again) {
  std::vector<Binding> bindings = ahead_;
  const std::size_t mark = subject_.builder.mark_names();
  const std::vector<Binding> back =
      again.empty() ? back_ : computed_again(ahead_, back_, again, {result_}, subject_.builder);
  bindings.insert(bindings.end(), back.begin(), back.end());
  Module module = subject_.with(name_, params_, std::move(bindings), result_);
  subject_.builder.free_names(mark);
  subject_.builder.drop_mark();
  verify_after(module, name_.ends_with("_vjp") ? "vjp" : "gradient");
  return module;
}

namespace {

// The same bindings where sizes have numbers, and which variables they are of.
struct Numbered {
  std::vector<Var> params;
  std::vector<Binding> ahead, back;
  std::unordered_map<std::uint64_t, std::uint64_t> old_ids;

  std::vector<Binding> take(const std::vector<Binding>& bindings, VarMap& vars, const ScalarMap& scalars) {
    std::vector<Binding> copies;
    for (const Binding& binding : bindings) {
      copies.push_back(copy_binding(binding, vars, scalars));
      old_ids.emplace(copies.back().var().id(), binding.var().id());
    }
    return copies;
  }
};

}  // namespace

std::vector<RecomputationPlan> GradientPass::plans(const std::map<std::string, std::int64_t>& sizes) {
  FunctionBuilder& names = subject_.builder;
  std::vector<ScalarVar> symbols;
  for (const Var& param : params_) collect_vars(param.type(), symbols);
  for (const auto& [id, symbol] : subject_.job.scalar_params) symbols.push_back(symbol);
  ScalarMap scalars;
  for (const ScalarVar& symbol : symbols)
    if (const auto size = sizes.find(symbol.name()); size != sizes.end())
      scalars.insert_or_assign(symbol.id(), Scalar(size->second));
  if (scalars.empty())
    return recomputation_plans({subject_.job.module, params_, ahead_, back_, {result_}, marked_}, names);
  Numbered numbered;
  VarMap vars;
  for (const Var& param : params_) {
    numbered.params.emplace_back(param.name(), substitute(param.type(), scalars), false, param.span());
    vars.emplace(param.id(), Expr(numbered.params.back()));
  }
  numbered.ahead = numbered.take(ahead_, vars, scalars);
  numbered.back = numbered.take(back_, vars, scalars);
  const Expr result = substitute(result_, vars, scalars);
  ValueIds marked;
  for (const auto& [copy, old] : numbered.old_ids)
    if (marked_.contains(old)) marked.insert(copy);
  std::vector<RecomputationPlan> plans = recomputation_plans(
      {subject_.job.module, numbered.params, numbered.ahead, numbered.back, {result}, marked}, names);
  for (RecomputationPlan& plan : plans) {
    ValueIds again;
    for (const std::uint64_t id : plan.again)
      if (const auto old = numbered.old_ids.find(id); old != numbered.old_ids.end())
        again.insert(old->second);
    plan.again = std::move(again);
  }
  return plans;
}

}  // namespace relish
