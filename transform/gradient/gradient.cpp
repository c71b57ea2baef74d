// The gradient of a function: the forward bindings are copied, then walked backwards from the target, and
// what nothing uses is removed. Where the cotangent of the whole result is given, that is walked back
// instead.
#include "transform/gradient.h"

#include "ir/calls/roles.h"
#include "ir/printer/reserved_names.h"
#include "ir/verify/verify.h"
#include "transform/derivatives.h"
#include "transform/gradient/differentiated.h"
#include "transform/gradient/path_account.h"
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
    Module made = subject_.with(subject_.source.name + suffix, std::move(params), std::move(bindings),
                                tuple({subject_.body.result, tuple(gradients, span)}, span));
    verify_after(made, pass);
    return made;
  }

  DifferentiatedFunction subject_;
  Reverse reverse_{subject_.job, subject_.builder};
  std::vector<Binding> forward_;  // with what is kept for the way back
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
