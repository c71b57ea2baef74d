// Forward mode of a function, and of a gradient: the product with the second derivative.
#include "ir/verify/verify.h"
#include "transform/derivatives.h"
#include "transform/forward/forward.h"
#include "transform/gradient.h"
#include "transform/gradient/differentiated.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

// What a command adds to a module: the functions of `made` that the named one reaches and that `before` has
// not; what stood in `before` stays as it was.
Module with_added(const Module& before, const Module& made, const std::string& name) {
  Module result = before;
  if (result.find(name)) result.remove(name);
  std::vector<std::string> pending{name};
  std::unordered_set<std::string> reached{name};
  while (!pending.empty()) {
    const FunctionPtr function = made.function(pending.back());
    pending.pop_back();
    if (!function) continue;
    for (const std::string& callee : global_references(*function))
      if (reached.insert(callee).second) pending.push_back(callee);
  }
  for (const GlobalFunction& function : made.functions)
    if (reached.contains(name_of(function)) && !result.find(name_of(function))) result.set(function);
  return result;
}

}  // namespace

Module jvp(const Module& module, std::string_view function, const DerivativeOptions& options) {
  const FunctionPtr source = relax_function(module, function);
  DifferentiatedFunction subject(module, *source, Way::Forward);
  subject.choose(options.wrt, true);
  subject.require_floating_result();
  const Expr& result = subject.body.result;
  subject.require_rules({result}, Way::Forward);
  JvpFunctions functions(subject.job);
  Forward forward(subject.job, functions, subject.builder);
  FunctionBuilder& builder = subject.builder;
  std::vector<Var> params = subject.body.params;
  builder.set_origin(source->span);
  builder.begin_block(false);
  for (const Var& var : subject.wrt) {
    params.emplace_back(builder.fresh_name(var.name() + "_dot"), var.type(), false, var.span());
    forward.seed(var, Expr(params.back()));
  }
  forward.run(subject.body.bindings, {result});
  builder.set_origin(subject.result_span());
  const Expr tangents = forward.tangent_of(result, result.type());
  builder.end_block();
  Module made = subject.with(source->name + "_jvp", std::move(params), builder.take_bindings(),
                             tuple({result, tangents}, source->span));
  verify_after(made, "jvp");
  return made;
}

Module hvp(const Module& module, std::string_view function, const DerivativeOptions& options) {
  const FunctionPtr source = relax_function(module, function);
  GradientOptions of_gradient;
  of_gradient.wrt = options.wrt;
  of_gradient.target = options.target;
  const Module once = gradient(module, function, of_gradient);
  DerivativeOptions of_jvp;
  of_jvp.wrt = options.wrt;
  const std::string adjoint = source->name + "_adjoint";
  Module twice = jvp(once, adjoint, of_jvp);
  // ((outputs, gradients), (tangents, products)) becomes (outputs, products).
  Function whole = *twice.function(adjoint + "_jvp");
  whole.name = source->name + "_hvp";
  const auto field = [](const Expr& of, std::size_t i) { return of.as<TupleExpr>()->fields[i]; };
  const Expr both = tuple({field(field(whole.result, 0), 0), field(field(whole.result, 1), 1)}, source->span);
  std::vector<Binding> bindings = all_bindings(whole);
  close_function(whole, std::move(bindings), both);
  check_replaces(module, whole);
  const std::string name = whole.name;
  twice.set(std::make_shared<const Function>(std::move(whole)));
  Module made = with_added(module, twice, name);
  verify_after(made, "hvp");
  return made;
}

}  // namespace relish
