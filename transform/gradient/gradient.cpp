// The gradient of a function: the forward bindings are copied, then walked backwards from the target, and
// what nothing uses is removed. Where the cotangent of the whole result is given, that is walked back
// instead.
#include "transform/gradient.h"

#include <fmt/format.h>

#include <limits>

#include "ir/calls/roles.h"
#include "ir/printer/reserved_names.h"
#include "ir/verify/verify.h"
#include "support/failure.h"
#include "transform/derivatives.h"
#include "transform/gradient/differentiated.h"
#include "transform/gradient/memory_budget.h"
#include "transform/gradient/path_account.h"
#include "transform/gradient/recomputation.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"
#include "transform/transpose_cleanup.h"

namespace relish {
namespace {

class GradientPass {
 public:
  GradientPass(const Module& module, const Function& function) : subject_(module, function) {}

  std::vector<GradientLine> account(const GradientOptions& options) {
    PathAccount account;
    subject_.job.account = &account;
    account.enter(subject_.source.name);
    adjoint(options);
    return account.lines();
  }

  Module adjoint(const GradientOptions& options) {
    budget_ = options.budget ? &*options.budget : nullptr;
    report_ = options.report;
    subject_.choose(options.wrt, false);
    const Expr target = subject_.scalar_target(options.target);
    subject_.require_rules({target}, Way::Back);
    forward(target);
    if (const Var* seed = target.as_var()) {
      const Expr one = op_call("ones", {shape_literal({})},
                               {{"dtype", Attribute(std::string(name_of(*target.type().tensor()->dtype)))}},
                               target.span());
      reverse_.of(*seed).value = Expr(subject_.builder.bind(one, seed->name() + "_adjoint"));
    }
    reverse_.backward();
    Module made = finish("_adjoint", subject_.body.params, "gradient");
    if (options.named) name_gradients(made);
    return made;
  }

  Module vjp(const DerivativeOptions& options) {
    subject_.choose(options.wrt, false);
    subject_.require_floating_result();
    const Expr& result = subject_.body.result;
    subject_.require_rules({result}, Way::Back);
    forward(result);
    std::vector<Var> params = subject_.body.params;
    params.emplace_back(subject_.builder.fresh_name("ct"), result.type(), false, subject_.source.span);
    reverse_.seed(result, reverse_.as_adjoint(Expr(params.back())));
    reverse_.backward();
    return finish("_vjp", std::move(params), "vjp");
  }

 private:
  void forward(const Expr& target) {
    subject_.builder.begin_block(false);
    reverse_.forward(subject_.body.bindings, {target});
    subject_.builder.end_block();
    forward_ = subject_.builder.take_bindings();
    subject_.builder.begin_block(true);
    subject_.builder.set_origin(target.span());
  }

  void name_gradients(Module& made) const {
    Function adjoint = *made.function(subject_.source.name + "_adjoint");
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
  void tell(const std::vector<Binding>& backward) const {
    for (const Binding& binding : backward)
      for (const Var& var : used_vars(binding.value()))
        subject_.job.account->keep(var, "to the end", bytes_of(var.type()));
  }

  Module finish(const std::string& suffix, std::vector<Var> params, std::string_view pass) {
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
    Closing closing{subject_.source.name + suffix,
                    std::move(params),
                    tuple({subject_.body.result, tuple(gradients, span)}, span),
                    {},
                    {}};
    const auto middle = bindings.begin() + static_cast<std::ptrdiff_t>(ahead);
    closing.ahead.assign(bindings.begin(), middle);
    closing.back.assign(middle, bindings.end());
    const ValueIds marked = values_to_compute_again(closing.ahead, subject_.job.again);
    Module made = budget_ ? within_budget(closing, marked) : closed(closing, marked);
    verify_after(made, pass);
    return made;
  }

  // The function that is about to be made, but for what it computes again.
  struct Closing {
    std::string name;
    std::vector<Var> params;
    Expr result;
    std::vector<Binding> ahead, back;
  };

  Module closed(const Closing& closing, const ValueIds& again) {
    if (subject_.job.account) {
      for (const Binding& binding : closing.ahead)
        if (again.contains(binding.var().id()))
          subject_.job.account->keep(binding.var(), "computed again", 0);
    }
    std::vector<Binding> bindings = closing.ahead;
    const std::vector<Binding> back = again.empty() ? closing.back
                                                    : computed_again(closing.ahead, closing.back, again,
                                                                     {closing.result}, subject_.builder);
    bindings.insert(bindings.end(), back.begin(), back.end());
    return subject_.with(closing.name, closing.params, std::move(bindings), closing.result);
  }

  // By the plan of least work whose peak is small enough.
  Module within_budget(const Closing& closing, const ValueIds& marked) {
    const std::vector<RecomputationPlan> plans = recomputation_plans(
        {subject_.job.module, closing.params, closing.ahead, closing.back, {closing.result}, marked},
        subject_.builder);
    std::int64_t unbound = 0, least = std::numeric_limits<std::int64_t>::max();
    for (const RecomputationPlan& plan : plans) {
      const std::size_t mark = subject_.builder.mark_names();
      const ModulePtr made = std::make_shared<const Module>(closed(closing, plan.again));
      subject_.builder.free_names(mark);
      subject_.builder.drop_mark();
      const std::int64_t peak = budget_->peak(made, closing.name);
      if (unbound == 0) unbound = peak;
      least = std::min(least, peak);
      if (peak > budget_->bytes) continue;
      if (report_) *report_ = {unbound, peak, plan.work, plan.again.size()};
      return *made;
    }
    fail(ErrorClass::Usage, subject_.source.span, "gradient.budget",
         fmt::format("the gradient of '{}' holds {} bytes at least, {} with all that it needs kept; found a "
                     "memory_budget of {}",
                     subject_.source.name, least, unbound, budget_->bytes));
  }

  DifferentiatedFunction subject_;
  Reverse reverse_{subject_.job, subject_.builder};
  std::vector<Binding> forward_;  // with what is kept for the way back
  const MemoryBudget* budget_ = nullptr;
  BudgetReport* report_ = nullptr;
};

}  // namespace

Module gradient(const Module& module, std::string_view function, const GradientOptions& options) {
  return GradientPass(module, *relax_function(module, function)).adjoint(options);
}

std::vector<GradientLine> account_of_gradient(const Module& module, std::string_view function,
                                              const GradientOptions& options) {
  return GradientPass(module, *relax_function(module, function)).account(options);
}

Module vjp(const Module& module, std::string_view function, const DerivativeOptions& options) {
  return GradientPass(module, *relax_function(module, function)).vjp(options);
}

}  // namespace relish
