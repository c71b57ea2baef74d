// Reverse mode over straight-line graph code. The forward bindings are copied, then the bindings are walked
// backwards: each operator's rule gives one partial per argument, partials of one variable are added in
// reverse program order (the order of TVM, on which float results depend), and what nothing uses is removed.
// Calls of other functions are inlined first, so no use of a variable is skipped; a function whose gradient
// the user has written stays a call, and so does its gradient.
#include "transform/gradient.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/operators/op.h"
#include "ir/operators/user_gradient.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "support/suggest.h"
#include "transform/gradient/prim_calls.h"
#include "transform/gradient/rules.h"
#include "transform/parameter_marks.h"
#include "transform/rebuild.h"
#include "transform/transpose_cleanup.h"

namespace relish {
namespace {

// The adjoint of one variable: nothing yet, a tensor, or a tuple of adjoints.
struct Adjoint {
  Expr value;                   // undefined: nothing yet, or a tuple
  std::vector<Adjoint> fields;  // of a tuple-typed variable
};

constexpr std::string_view unknown_callee =
    "the gradient needs the function that is called; this callee cannot be determined";

bool is_float_tensor(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && tensor->dtype && is_float(*tensor->dtype);
}

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
      : result_(module), source_(function), options_(options) {}

  Module run() {
    forward();
    choose_wrt();
    const Expr target = find_target();
    check_rules(target);
    backward(target);
    finish();
    verify_after(result_, "gradient");
    return std::move(result_);
  }

 private:
  // Copies the forward bindings, calls of other functions inlined, into builder_.
  void forward() {
    std::unordered_set<std::string> names_of_params;
    for (const Var& param : source_.params) {
      names_of_params.insert(param.name());
      builder_.reserve_name(param.name());
      const Var fresh(param.name(), param.type(), false, param.span());
      params_.push_back(fresh);
      vars_.emplace(param.id(), Expr(fresh));
      by_name_[param.name()] = Expr(fresh);
    }
    for (const Binding& binding : all_bindings(source_)) builder_.reserve_name(binding.var().name());
    builder_.begin_block(false);  // an if of a callee is refused where it is on the gradient's path
    for (const Binding& binding : all_bindings(source_)) {
      const auto* call = binding.value().as<FunctionCall>();
      if (call && !gradient_of(*call)) {
        inline_binding(binding);
      } else {
        const Binding copy = copy_binding(binding, vars_);
        builder_.append(copy);
        if (const auto* nested = copy.value().as<FunctionExpr>())
          nested_.insert_or_assign(copy.var().id(), nested->function);
      }
      // A variable that shadows a parameter leaves the name to the parameter.
      if (!names_of_params.contains(binding.var().name()))
        by_name_[binding.var().name()] = vars_.at(binding.var().id());
    }
    return_ = substitute(source_.result, vars_);
    builder_.end_block();
    forward_ = builder_.take_bindings();
  }

  // The user's gradient of the function that is called, or null.
  FunctionPtr gradient_of(const FunctionCall& call) {
    const auto* global = call.callee.as<GlobalRef>();
    if (!global) return nullptr;
    const auto [known, first] = user_gradients_.try_emplace(global->name);
    if (first) known->second = user_gradient(result_, global->name);
    return known->second;
  }

  void inline_binding(const Binding& binding) {
    const Expr value = substitute(binding.value(), vars_);
    const auto& call = *value.as<FunctionCall>();
    const auto* global = call.callee.as<GlobalRef>();
    const Var* var = call.callee.as_var();
    const auto nested = var ? nested_.find(var->id()) : nested_.end();
    const FunctionPtr callee = global                    ? result_.function(global->name)
                               : nested != nested_.end() ? nested->second
                                                         : nullptr;
    if (!callee) fail(ErrorClass::Type, value.span(), "gradient.callee", std::string(unknown_callee));
    refuse_recursion(*callee, value.span());
    builder_.set_origin(value.span());
    const Expr inlined = inline_call(builder_, result_, result_, *callee, call.args);
    vars_.insert_or_assign(binding.var().id(), inlined);
  }

  void refuse_recursion(const Function& callee, Span span) {
    if (!finite_.insert(&callee).second) return;
    std::unordered_set<std::string> seen;
    std::vector<std::string> pending{callee.name};
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      const FunctionPtr function = result_.function(name);
      if (!function) continue;
      for (const std::string& next : global_references(*function)) {
        if (next == callee.name) {
          fail(ErrorClass::Type, span, "gradient.recursion",
               fmt::format("{} calls itself; the gradient of recursive functions is not supported",
                           callee.name));
        }
        if (seen.insert(next).second) pending.push_back(next);
      }
    }
  }

  void choose_wrt() {
    if (options_.wrt.empty()) {
      for (const Var& param : params_)
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
    Expr target = return_;
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
    for (auto it = forward_.rbegin(); it != forward_.rend(); ++it)
      if (it->var() == var) return &*it;
    return nullptr;
  }

  // Which variables depend on the wanted ones, and which of those the target depends on. Every operator
  // between that cannot be differentiated is reported, all at once, before any work.
  void check_rules(const Expr& target) {
    for (const Var& var : wrt_) varied_.insert(var.id());
    for (const Binding& binding : forward_) {
      for (const Var& used : used_vars(binding.value()))
        if (varied_.contains(used.id())) varied_.insert(binding.var().id());
    }
    std::unordered_set<std::uint64_t> needed;
    std::vector<Var> pending;
    collect_leaf_vars(target, pending);
    for (const Var& var : pending) needed.insert(var.id());
    Diagnostics diagnostics;
    for (auto it = forward_.rbegin(); it != forward_.rend(); ++it) {
      if (!needed.contains(it->var().id()) || !varied_.contains(it->var().id())) continue;
      for (const Var& used : used_vars(it->value())) needed.insert(used.id());
      const auto* prim = it->value().as<CallTir>();
      if (prim && prim->gradient_name.empty()) {
        if (reaches(it->value()))
          prims_.check(*prim, it->value().span(), [&](const Expr& arg) { return reached(arg); }, diagnostics);
      } else {
        require_rule(*it, varied_, diagnostics);
      }
      // What inlining left: a nested function that calls itself, or a function that is a value.
      const auto* call = it->value().as<FunctionCall>();
      if (call && !gradient_of(*call) && reaches(it->value()))
        diagnostics.error(ErrorClass::Type, it->value().span(), "gradient.callee",
                          std::string(unknown_callee));
    }
    diagnostics.sort();
    throw_if_errors(diagnostics);
  }

  void backward(const Expr& target) {
    builder_.begin_block(true);
    builder_.set_origin(target.span());
    const Var* seed = target.as_var();
    if (seed) {
      const Expr one = op_call("ones", {shape_literal({})},
                               {{"dtype", Attribute(std::string(name_of(*target.type().tensor()->dtype)))}},
                               target.span());
      adjoints_[seed->id()].value = Expr(builder_.bind(one, seed->name() + "_adjoint"));
    }
    for (auto it = forward_.rbegin(); it != forward_.rend(); ++it) {
      const auto found = adjoints_.find(it->var().id());
      if (found == adjoints_.end() || !varied_.contains(it->var().id())) continue;
      const Adjoint adjoint = found->second;
      builder_.set_origin(it->span);
      propagate(*it, adjoint);
    }
  }

  void propagate(const Binding& binding, const Adjoint& adjoint) {
    const Expr& value = binding.value();
    if (const auto* literal = value.as<TupleExpr>()) {
      for (std::size_t i = 0; i < literal->fields.size() && i < adjoint.fields.size(); ++i)
        add_adjoint(literal->fields[i], adjoint.fields[i]);
    } else if (const auto* get = value.as<TupleGet>()) {
      const Var* tuple = get->tuple.as_var();
      if (tuple && varied_.contains(tuple->id())) {
        Adjoint& whole = adjoints_[tuple->id()];
        whole.fields.resize(tuple->type().tuple()->fields.size());
        merge(whole.fields[static_cast<std::size_t>(get->index)], adjoint, tuple->name());
      }
    } else if (value.as<VarRef>()) {
      add_adjoint(value, adjoint);
    } else if (const auto* call = value.as<OpCall>()) {
      const Expr cotangent = as_expr(adjoint, binding.var().type());
      std::vector<Partial> partials = rule_partials(*call, value, binding.var(), cotangent, builder_);
      for (std::size_t i = 0; i < partials.size(); ++i) {
        if (!partials[i].value.defined()) continue;
        if (reached(call->args[i])) add_adjoint(call->args[i], as_adjoint(partials[i].value));
      }
    } else if (const auto* called = value.as<FunctionCall>()) {
      propagate_call(*called, binding.var(), adjoint);
    } else if (const auto* prim = value.as<CallTir>()) {
      propagate_prim_call(*prim, binding.var(), adjoint);
    }
  }

  bool reaches(const Expr& value) const {
    const std::vector<Var> used = used_vars(value);
    return std::any_of(used.begin(), used.end(), [&](const Var& var) { return varied_.contains(var.id()); });
  }

  // Whether a leaf, or a field of a tuple of leaves, depends on a wanted variable.
  bool reached(const Expr& leaf) const {
    std::vector<Var> vars;
    collect_leaf_vars(leaf, vars);
    return std::any_of(vars.begin(), vars.end(), [&](const Var& var) { return varied_.contains(var.id()); });
  }

  void propagate_prim_call(const CallTir& call, const Var& output, const Adjoint& adjoint) {
    std::vector<Expr> cotangents;
    for (std::size_t i = 0; i < call.out_types.size(); ++i) {
      if (!call.tuple_result)
        cotangents.push_back(adjoint.value);
      else
        cotangents.push_back(i < adjoint.fields.size() ? adjoint.fields[i].value : Expr());
    }
    const auto value = [&](std::size_t i) {
      return call.tuple_result
                 ? builder_.emit(tuple_get(Expr(output), static_cast<int>(i), builder_.origin()), "lv")
                 : Expr(output);
    };
    const std::vector<Expr> partials =
        prims_.partials(call, [&](const Expr& arg) { return reached(arg); }, cotangents, value, builder_);
    for (std::size_t i = 0; i < partials.size(); ++i)
      if (partials[i].defined()) add_adjoint(call.args[i], as_adjoint(partials[i]));
  }

  // The user's gradient takes the inputs, the outputs and their cotangents.
  void propagate_call(const FunctionCall& call, const Var& output, const Adjoint& adjoint) {
    const FunctionPtr written = gradient_of(call);
    RELISH_CHECK(written != nullptr, "a call without a gradient was not inlined");
    std::vector<Expr> args = call.args;
    const Expr cotangent = as_expr(adjoint, output.type());
    if (const TupleType* outputs = output.type().tuple()) {
      for (int i = 0; i < static_cast<int>(outputs->fields.size()); ++i)
        args.push_back(builder_.emit(tuple_get(Expr(output), i, builder_.origin()), "lv"));
      for (const Expr& field : cotangent.as<TupleExpr>()->fields) args.push_back(field);
    } else {
      args.push_back(Expr(output));
      args.push_back(cotangent);
    }
    const Expr gradients = builder_.emit(
        function_call(global_ref(GlobalFunction(written), builder_.origin()), args, builder_.origin()), "lv");
    for (int i = 0; i < static_cast<int>(call.args.size()); ++i) {
      const Expr gradient = gradients.type().tuple() ? tuple_get(gradients, i, builder_.origin()) : gradients;
      add_adjoint(call.args[static_cast<std::size_t>(i)], as_adjoint(gradient));
    }
  }

  // A value as the adjoint of a variable: of floating tensors only.
  Adjoint as_adjoint(const Expr& value) {
    if (const auto* literal = value.as<TupleExpr>()) {
      Adjoint adjoint;
      for (const Expr& field : literal->fields) adjoint.fields.push_back(as_adjoint(field));
      return adjoint;
    }
    if (const TupleType* type = value.type().tuple()) {
      const Expr whole = builder_.emit(value, "lv");
      Adjoint adjoint;
      for (int i = 0; i < static_cast<int>(type->fields.size()); ++i)
        adjoint.fields.push_back(as_adjoint(tuple_get(whole, i, builder_.origin())));
      return adjoint;
    }
    return is_float_tensor(value.type()) ? Adjoint{value, {}} : Adjoint{};
  }

  // Adds what arrives for a leaf (or tuple of leaves) to the adjoints of its variables.
  void add_adjoint(const Expr& leaf, const Adjoint& contribution) {
    if (const auto* literal = leaf.as<TupleExpr>()) {
      for (std::size_t i = 0; i < literal->fields.size() && i < contribution.fields.size(); ++i)
        add_adjoint(literal->fields[i], contribution.fields[i]);
      return;
    }
    const Var* var = leaf.as_var();
    if (var && varied_.contains(var->id())) merge(adjoints_[var->id()], contribution, var->name());
  }

  void merge(Adjoint& into, const Adjoint& contribution, const std::string& name) {
    if (!contribution.fields.empty()) {
      into.fields.resize(contribution.fields.size());
      for (std::size_t i = 0; i < contribution.fields.size(); ++i)
        merge(into.fields[i], contribution.fields[i], name);
      return;
    }
    if (!contribution.value.defined()) return;
    if (!into.value.defined()) {
      into.value = Expr(builder_.bind(contribution.value, name + "_adjoint"));
      return;
    }
    const Expr partial = builder_.emit(contribution.value, "lv");
    into.value =
        Expr(builder_.bind(op_call("add", {into.value, partial}, {}, builder_.origin()), name + "_adjoint"));
  }

  // An adjoint as a value of `type`: zeros where nothing arrived.
  Expr as_expr(const Adjoint& adjoint, const Type& type) {
    if (const TupleType* tuple_type = type.tuple()) {
      std::vector<Expr> fields;
      for (std::size_t i = 0; i < tuple_type->fields.size(); ++i)
        fields.push_back(
            as_expr(i < adjoint.fields.size() ? adjoint.fields[i] : Adjoint{}, tuple_type->fields[i]));
      return tuple(std::move(fields), builder_.origin());
    }
    if (adjoint.value.defined()) return adjoint.value;
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->shape || !tensor->dtype) {
      fail(ErrorClass::Type, builder_.origin(), "gradient.zeros",
           fmt::format("nothing depends on a value of type {}, and its zero gradient needs a known shape",
                       print(type)));
    }
    return builder_.emit(
        op_call("zeros", {shape_literal(*tensor->shape)},
                {{"dtype", Attribute(std::string(name_of(*tensor->dtype)))}}, builder_.origin()),
        "lv");
  }

  void finish() {
    std::vector<Expr> gradients;
    for (const Var& var : wrt_) {
      builder_.set_origin(var.span());
      const auto found = adjoints_.find(var.id());
      Expr gradient = as_expr(found == adjoints_.end() ? Adjoint{} : found->second, var.type());
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
    adjoint.params = params_;
    adjoint.attributes = attributes_of_derived(source_, adjoint.name, adjoint.params);
    adjoint.pure = source_.pure;
    adjoint.span = source_.span;
    adjoint.result_span = source_.result_span;
    close_function(adjoint, std::move(bindings),
                   tuple({return_, tuple(gradients, source_.span)}, source_.span));
    check_replaces(result_, adjoint);
    if (result_.find(adjoint.name)) result_.remove(adjoint.name);
    result_.set(std::make_shared<const Function>(std::move(adjoint)));
  }

  Module result_;
  PrimAdjoints prims_{result_};
  const Function& source_;
  const GradientOptions& options_;
  FunctionBuilder builder_;
  VarMap vars_;
  std::vector<Var> params_, wrt_;
  std::unordered_map<std::string, Expr> by_name_;
  std::vector<Binding> forward_;
  std::unordered_map<std::uint64_t, FunctionPtr> nested_;  // by the variable that they are bound to
  Expr return_;
  std::unordered_set<std::uint64_t> varied_;
  std::unordered_map<std::uint64_t, Adjoint> adjoints_;
  std::unordered_map<std::string, FunctionPtr> user_gradients_;  // by function; null: it has none
  std::unordered_set<const Function*> finite_;                   // callees that do not call themselves
};

}  // namespace

Module gradient(const Module& module, std::string_view function, const GradientOptions& options) {
  const FunctionPtr source = relax_function(module, function);
  return GradientPass(module, *source, options).run();
}

}  // namespace relish
