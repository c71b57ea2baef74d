// The gradient of a function: the forward bindings are copied, then walked backwards from the target, and
// what nothing uses is removed.
#include "transform/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/printer/printer.h"
#include "ir/rewriting/regions.h"
#include "ir/verify/verify.h"
#include "support/suggest.h"
#include "transform/gradient/body_copy.h"
#include "transform/gradient/call_pairs.h"
#include "transform/gradient/reverse.h"
#include "transform/gradient/rule_check.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"
#include "transform/transpose_cleanup.h"

namespace relish {
namespace {

bool is_differentiable(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    return !tuple->fields.empty() &&
           std::all_of(tuple->fields.begin(), tuple->fields.end(), is_differentiable);
  }
  return is_float_tensor(type);
}

class GradientPass {
 public:
  GradientPass(const Module& module, const Function& function, const GradientOptions& options)
      : job_(module), pairs_(job_), source_(function), options_(options) {
    job_.pairs = &pairs_;
  }

  Module run() {
    copy();
    choose_wrt();
    const Expr target = find_target();
    for (const Var& var : wrt_) job_.varied.insert(var.id());
    job_.vary(body_.bindings);
    check_rules(target);
    differentiate(target);
    finish();
    verify_after(job_.module, "gradient");
    return std::move(job_.module);
  }

 private:
  void copy() {
    body_ = copy_body(job_, source_, builder_);
    std::unordered_set<std::string> names_of_params;
    for (const Var& param : body_.params) {
      names_of_params.insert(param.name());
      by_name_[param.name()] = Expr(param);
    }
    // A variable that shadows a parameter leaves the name to the parameter.
    for (const Binding& binding : all_bindings(source_))
      if (!names_of_params.contains(binding.var().name()))
        by_name_[binding.var().name()] = body_.vars.at(binding.var().id());
  }

  void choose_wrt() {
    if (options_.wrt.empty()) {
      for (const Var& param : body_.params)
        if (is_differentiable(param.type())) wrt_.push_back(param);
      if (wrt_.empty()) {
        fail(ErrorClass::Type, source_.span, "gradient.wrt",
             fmt::format("{} has no floating tensor parameter to differentiate for", source_.name));
      }
      return;
    }
    std::vector<std::string> names;
    for (const auto& [name, expr] : by_name_) names.push_back(name);
    for (const std::string& name : options_.wrt) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end() || !found->second.as_var()) {
        fail(ErrorClass::Usage, source_.span, "gradient.wrt",
             fmt::format("{} has no variable '{}'{}", source_.name, name, did_you_mean(name, names)));
      }
      const Var& var = *found->second.as_var();
      if (!is_differentiable(var.type())) {
        fail(ErrorClass::Type, var.span(), "gradient.wrt",
             fmt::format("'{}' has type {}; a gradient is taken for floating tensors", name,
                         print(var.type())));
      }
      if (std::find(wrt_.begin(), wrt_.end(), var) != wrt_.end()) {
        fail(ErrorClass::Usage, source_.span, "gradient.wrt", fmt::format("'{}' is listed twice", name));
      }
      wrt_.push_back(var);
    }
  }

  // The scalar float that is differentiated: a leaf of the returned expression.
  Expr find_target() const {
    Expr target = body_.result;
    std::vector<int> path = options_.target;
    if (path.empty() && (target.as<TupleExpr>() || target.type().tuple())) path = {0};
    for (const int index : path) {
      if (const Expr* literal = tuple_field(target, index)) {
        target = *literal;
        continue;
      }
      const TupleType* tuple = target.type().tuple();
      fail(tuple ? ErrorClass::Usage : ErrorClass::Type,
           source_.result_span.known() ? source_.result_span : source_.span, "gradient.target",
           tuple ? fmt::format("target index {} is out of range; the result has {} fields", index,
                               tuple->fields.size())
                 : fmt::format("target index {} given, but the result is {}", index, print(target.type())));
    }
    const TensorType* tensor = target.type().tensor();
    if (!is_float_tensor(target.type()) || tensor->rank != 0) {
      fail(ErrorClass::Type, source_.result_span.known() ? source_.result_span : source_.span,
           "gradient.target",
           fmt::format(
               "the target has type {}; expected a floating scalar R.Tensor((), ...): append a loss first",
               print(target.type())));
    }
    return target;
  }

  // Field of a tuple: of a literal, or of a variable bound to one.
  const Expr* tuple_field(const Expr& expr, int index) const {
    const Expr* tuple = &expr;
    while (const Var* var = tuple->as_var()) {
      const Binding* binding = binding_of(*var);
      if (!binding) return nullptr;
      tuple = &binding->value();
    }
    const auto* literal = tuple->as<TupleExpr>();
    if (!literal || index < 0 || index >= static_cast<int>(literal->fields.size())) return nullptr;
    return &literal->fields[static_cast<std::size_t>(index)];
  }

  const Binding* binding_of(const Var& var) const {
    for (auto it = body_.bindings.rbegin(); it != body_.bindings.rend(); ++it)
      if (it->var() == var) return &*it;
    return nullptr;
  }

  // Everything on the way that cannot be differentiated is reported, all at once, before any work.
  void check_rules(const Expr& target) {
    Diagnostics diagnostics;
    RuleCheck(job_, diagnostics).check(body_.bindings, {target});
    diagnostics.sort();
    throw_if_errors(diagnostics);
  }

  void differentiate(const Expr& target) {
    builder_.begin_block(false);
    reverse_.forward(body_.bindings, {target});
    builder_.end_block();
    forward_ = builder_.take_bindings();
    builder_.begin_block(true);
    builder_.set_origin(target.span());
    if (const Var* seed = target.as_var()) {
      const Expr one = op_call("ones", {shape_literal({})},
                               {{"dtype", Attribute(std::string(name_of(*target.type().tensor()->dtype)))}},
                               target.span());
      reverse_.of(*seed).value = Expr(builder_.bind(one, seed->name() + "_adjoint"));
    }
    reverse_.backward();
  }

  void finish() {
    std::vector<Expr> gradients;
    for (const Var& var : wrt_) {
      builder_.set_origin(var.span());
      Expr gradient = reverse_.as_expr(reverse_.of(var), var.type(), Expr(var));
      if (!gradient.as<TupleExpr>()) gradient = Expr(builder_.bind(gradient, var.name() + "_adjoint_out"));
      gradients.push_back(gradient);
    }
    builder_.end_block();
    std::vector<Binding> bindings = forward_;
    const std::vector<Binding> backward = builder_.take_bindings();
    bindings.insert(bindings.end(), backward.begin(), backward.end());
    VarMap renamed;
    bindings = simplify_transposes(std::move(bindings), forward_.size(), builder_, renamed);
    for (Expr& gradient : gradients) gradient = substitute(gradient, renamed);

    Function adjoint;
    adjoint.name = source_.name + "_adjoint";
    adjoint.params = body_.params;
    adjoint.attributes = attributes_of_derived(source_, adjoint.name, adjoint.params);
    adjoint.pure = source_.pure;
    adjoint.span = source_.span;
    adjoint.result_span = source_.result_span;
    close_function(adjoint, std::move(bindings),
                   tuple({body_.result, tuple(gradients, source_.span)}, source_.span));
    check_replaces(job_.module, adjoint);
    if (job_.module.find(adjoint.name)) job_.module.remove(adjoint.name);
    job_.module.set(std::make_shared<const Function>(std::move(adjoint)));
  }

  GradientJob job_;
  CallPairs pairs_;
  const Function& source_;
  const GradientOptions& options_;
  FunctionBuilder builder_;
  Reverse reverse_{job_, builder_};
  BodyCopy body_;
  std::vector<Var> wrt_;
  std::unordered_map<std::string, Expr> by_name_;
  std::vector<Binding> forward_;  // with what is kept for the way back
};

}  // namespace

Module gradient(const Module& module, std::string_view function, const GradientOptions& options) {
  const FunctionPtr source = relax_function(module, function);
  return GradientPass(module, *source, options).run();
}

}  // namespace relish
