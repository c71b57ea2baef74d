// Copying, choosing, checking and closing a function that is differentiated.
#include "transform/gradient/differentiated.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/printer/printer.h"
#include "ir/rewriting/regions.h"
#include "ir/verify/verify.h"
#include "support/choices.h"
#include "support/suggest.h"
#include "transform/gradient/checkpoints.h"
#include "transform/one_element.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

bool is_differentiable(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    return !tuple->fields.empty() &&
           std::all_of(tuple->fields.begin(), tuple->fields.end(), is_differentiable);
  }
  return is_float_tensor(type);
}

constexpr std::string_view other_target =
    "choose another field of the result by target, or return the floating value that it is made of";

}  // namespace

DifferentiatedFunction::DifferentiatedFunction(const Module& module, const Function& function, Way way)
    : source(function), job(module, function, way), pairs_(job) {
  job.pairs = &pairs_;
  body = copy_body(job, source, builder);
  for (const Var& param : body.params) params_by_name_[param.name()] = Expr(param);
  by_name_ = params_by_name_;
  // A variable that shadows a parameter leaves the name to the parameter.
  for (const Binding& binding : all_bindings(*job.body_of(source)))
    if (!params_by_name_.contains(binding.var().name()))
      by_name_[binding.var().name()] = body.vars.at(binding.var().id());
}

// Parameters are what is meant as a rule: a variable within is proposed where it is all but written so.
std::string DifferentiatedFunction::proposal(const std::string& name, bool only_params) const {
  constexpr std::size_t least_letters = 3;
  std::vector<std::string> params, others;
  for (const Var& param : body.params)
    if (is_differentiable(param.type())) params.push_back(param.name());
  for (const auto& [other, expr] : by_name_)
    if (expr.as_var() && !params_by_name_.contains(other)) others.push_back(other);
  if (!only_params && name.size() >= least_letters && !nearest_name(name, params)) {
    if (nearest_name(name, others)) return did_you_mean(name, others);
  }
  return among_choices(name, params);
}

void DifferentiatedFunction::choose(const std::vector<std::string>& wanted, bool only_params) {
  if (wanted.empty()) {
    for (const Var& param : body.params)
      if (is_differentiable(param.type())) wrt.push_back(param);
    if (wrt.empty()) {
      fail(ErrorClass::Type, source.span, "gradient.wrt",
           fmt::format("{} has no floating tensor parameter to differentiate for", source.name),
           {{{}, "give it what is to be varied as a parameter, R.Tensor((...), \"float32\")"}});
    }
  }
  const auto& known = only_params ? params_by_name_ : by_name_;
  for (const std::string& name : wanted) {
    const auto found = known.find(name);
    if (found == known.end() || !found->second.as_var()) {
      fail(ErrorClass::Usage, source.span, "gradient.wrt",
           fmt::format("{} has no {} '{}'{}", source.name, only_params ? "parameter" : "variable", name,
                       proposal(name, only_params)));
    }
    const Var& var = *found->second.as_var();
    if (!is_differentiable(var.type())) {
      fail(ErrorClass::Type, var.span(), "gradient.wrt",
           fmt::format("'{}' has type {}; a gradient is taken for floating tensors", name, print(var.type())),
           {{{}, "leave it out of wrt, or convert it by R.astype and name what that gives"}});
    }
    if (std::find(wrt.begin(), wrt.end(), var) != wrt.end())
      fail(ErrorClass::Usage, source.span, "gradient.wrt", fmt::format("'{}' is listed twice", name));
    wrt.push_back(var);
  }
  for (const Var& var : wrt) job.varied.insert(var.id());
  job.vary(body.bindings);
}

Expr DifferentiatedFunction::field_at(const std::vector<int>& wanted) const {
  Expr target = body.result;
  std::vector<int> path = wanted;
  if (path.empty() && (target.as<TupleExpr>() || target.type().tuple())) path = {0};
  for (const int index : path) {
    if (const Expr* literal = tuple_field(target, index)) {
      target = *literal;
      continue;
    }
    const TupleType* tuple = target.type().tuple();
    fail(tuple ? ErrorClass::Usage : ErrorClass::Type, result_span(), "gradient.target",
         tuple ? fmt::format("target index {} is out of range; the result has {} fields", index,
                             tuple->fields.size())
               : fmt::format("target index {} given, but the result is {}", index, print(target.type())));
  }
  return target;
}

Expr DifferentiatedFunction::target(const std::vector<int>& path) const {
  Expr target = field_at(path);
  if (is_float_tensor(target.type())) return target;
  fail(ErrorClass::Type, result_span(), "gradient.target",
       fmt::format("the target has type {}; expected a floating tensor", print(target.type())),
       {{{}, std::string(other_target)}});
}

Expr DifferentiatedFunction::scalar_target(const std::vector<int>& path) const {
  Expr found = field_at(path);
  const TensorType* tensor = found.type().tensor();
  if (tensor && tensor->dtype && !is_float(*tensor->dtype))
    return target(path);  // refused there: no loss helps
  if (is_float_tensor(found.type()) && tensor->rank == 0) return found;
  fail(ErrorClass::Type, result_span(), "gradient.target",
       fmt::format("the target has type {}; expected a floating scalar R.Tensor((), ...){}",
                   print(found.type()), has_one_element(found.type()) ? "" : ": append a loss first"),
       notes_of_one_element(found.type()));
}

void DifferentiatedFunction::require_floating_result() const {
  const Type& type = body.result.type();
  if (has_floats(type) && !may_hide_floats(type)) return;
  fail(ErrorClass::Type, result_span(), "gradient.target",
       fmt::format("the result has type {}; expected floating tensors, perhaps in tuples", print(type)),
       {{{}, "return what is floating before it is converted, or convert it by R.astype"}});
}

// Field of a tuple: of a literal, or of a variable bound to one.
const Expr* DifferentiatedFunction::tuple_field(const Expr& expr, int index) const {
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

const Binding* DifferentiatedFunction::binding_of(const Var& var) const {
  for (auto it = body.bindings.rbegin(); it != body.bindings.rend(); ++it)
    if (it->var() == var) return &*it;
  return nullptr;
}

void DifferentiatedFunction::require_rules(const std::vector<Expr>& targets, Way way) {
  Diagnostics diagnostics;
  RuleCheck(job, diagnostics, way).check(body.bindings, targets);
  diagnostics.sort();
  throw_if_errors(diagnostics);
}

Module DifferentiatedFunction::with(const std::string& name, std::vector<Var> params,
                                    std::vector<Binding> bindings, const Expr& result) {
  Function made;
  made.name = name;
  made.params = std::move(params);
  made.attributes = attributes_of_derived(source, made.name, made.params);
  made.pure = source.pure;
  made.span = source.span;
  made.result_span = source.result_span;
  close_function(made, std::move(bindings), result);
  check_replaces(job.module, made);
  Module whole = job.module;
  if (whole.find(made.name)) whole.remove(made.name);
  whole.set(without_marks(std::move(made)));
  job.leave_out_unused(whole);
  return whole;
}

}  // namespace relish
