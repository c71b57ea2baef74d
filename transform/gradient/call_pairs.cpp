// Making the two halves of a function.
#include "transform/gradient/call_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "support/failure.h"
#include "transform/call_cycles.h"
#include "transform/gradient/body_copy.h"
#include "transform/gradient/reverse.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

const Type& type_at(const Type& type, const std::vector<int>& path) {
  const Type* at = &type;
  for (const int index : path) at = &at->tuple()->fields[static_cast<std::size_t>(index)];
  return *at;
}

Adjoint& adjoint_at(Adjoint& whole, const Type& type, const std::vector<int>& path) {
  Adjoint* at = &whole;
  const Type* of = &type;
  for (const int index : path) {
    at->fields.resize(of->tuple()->fields.size());
    at = &at->fields[static_cast<std::size_t>(index)];
    of = &of->tuple()->fields[static_cast<std::size_t>(index)];
  }
  return *at;
}

// Both ways through the body of a function, before it is cut into halves.
struct BothWays {
  std::vector<Var> params, cotangents;
  std::vector<Binding> forward, backward;
  Expr result, gradients;
};

BothWays both_ways(GradientJob& job, const Function& function, const CallPair& pair) {
  FunctionBuilder builder;
  BodyCopy body = copy_body(job, function, builder);
  BothWays ways;
  for (const std::size_t i : pair.wrt) job.varied.insert(body.params[i].id());
  job.vary(body.bindings);
  Reverse reverse(job, builder);
  builder.begin_block(false);
  reverse.forward(body.bindings, {body.result});
  builder.end_block();
  ways.forward = builder.take_bindings();
  ways.params = std::move(body.params);
  ways.result = body.result;
  Adjoint arriving;
  for (const std::vector<int>& path : pair.outputs) {
    ways.cotangents.emplace_back(builder.fresh_name(function.name + "_adjoint"),
                                 type_at(function.result_type, path), false, function.span);
    adjoint_at(arriving, function.result_type, path).value = Expr(ways.cotangents.back());
  }
  builder.begin_block(false);
  builder.set_origin(function.result_span.known() ? function.result_span : function.span);
  reverse.seed(body.result, arriving);
  reverse.backward();
  std::vector<Expr> gradients;
  for (const std::size_t i : pair.wrt) {
    const Var& param = ways.params[i];
    gradients.push_back(reverse.as_expr(reverse.of(param), param.type(), Expr(param)));
  }
  ways.gradients = tuple(std::move(gradients), function.span);
  builder.end_block();
  ways.backward = builder.take_bindings();
  return ways;
}

// What the way back uses of the way there, in the order in which it is made.
std::vector<Var> kept_values(const BothWays& ways) {
  std::unordered_set<std::uint64_t> used, own;
  for (const Var& var : ways.cotangents) own.insert(var.id());
  for (const Binding& binding : ways.backward)
    for (const Var& var : used_vars(binding.value())) used.insert(var.id());
  std::vector<Var> of_gradients;
  collect_leaf_vars(ways.gradients, of_gradients);
  for (const Var& var : of_gradients) used.insert(var.id());
  std::vector<Var> kept;
  for (const Var& param : ways.params)
    if (used.contains(param.id())) kept.push_back(param);
  for (const Binding& binding : ways.forward)
    if (used.contains(binding.var().id())) kept.push_back(binding.var());
  return kept;
}

// Whether the types of the values tell all sizes that the way back mentions.
bool tell_all_sizes(const BothWays& ways, const std::vector<Var>& values) {
  SymbolList told, mentioned;
  for (const Var& var : values) told.add_determined(var.type());
  for (const Var& var : ways.cotangents) told.add_determined(var.type());
  for (const Var& var : values) mentioned.add_mentioned(var.type());
  for (const Binding& binding : ways.backward) {
    mentioned.add_mentioned(binding.var().type());
    for_each_expr(binding.value(), [&](const Expr& expr) {
      mentioned.add_mentioned(expr.type());
      if (const auto* scalar = expr.as<ScalarValueExpr>()) mentioned.add_mentioned(scalar->value);
      if (const auto* shape = expr.as<ShapeLiteral>())
        for (const Scalar& dim : shape->dims) mentioned.add_mentioned(dim);
    });
  }
  return std::all_of(mentioned.vars().begin(), mentioned.vars().end(),
                     [&](const ScalarVar& var) { return told.contains(var); });
}

Function half_of(const Function& function, const std::string& name) {
  Function half;
  half.name = name;
  half.is_private = true;
  half.span = function.span;
  half.result_span = function.result_span;
  return half;
}

// Parameters of its own for values of another function.
std::vector<Var> own_params(const std::vector<Var>& values, VarMap& vars) {
  std::vector<Var> params;
  for (const Var& value : values) {
    params.emplace_back(value.name(), value.type(), false, value.span());
    vars.emplace(value.id(), Expr(params.back()));
  }
  return params;
}

std::vector<Binding> over(const std::vector<Binding>& bindings, const VarMap& vars) {
  std::vector<Binding> result;
  for (const Binding& binding : bindings) result.push_back(substitute(binding, vars));
  return result;
}

}  // namespace

void collect_float_leaves(const Type& type, std::vector<std::vector<int>>& into, std::vector<int> path) {
  if (is_float_tensor(type)) into.push_back(path);
  const TupleType* tuple = type.tuple();
  if (!tuple) return;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
    path.push_back(static_cast<int>(i));
    collect_float_leaves(tuple->fields[i], into, path);
    path.pop_back();
  }
}

bool CallPairs::reaches_itself(const std::string& name) {
  if (!cyclic_) {
    CallGraph calls;
    for (const GlobalFunction& global : job_.module.functions)
      if (const auto* function = std::get_if<FunctionPtr>(&global))
        calls.emplace((*function)->name, global_references(**function));
    cyclic_ = on_cycles(calls);
  }
  return cyclic_->contains(name);
}

bool CallPairs::is_inlined(const Function& function) {
  const auto [known, first] = inlined_.try_emplace(function.name, false);
  if (!first) return known->second;
  const auto open = [](const Type& type) { return type.function() || !fully_known(type); };
  bool any = open(function.result_type);
  for (const Var& param : function.params) any = any || open(param.type());
  for_each_binding(function, [&](const Binding& binding) {
    any = any || (has_floats(binding.var().type()) && open(binding.var().type()));
  });
  known->second = any && !reaches_itself(function.name);
  return known->second;
}

const CallPair& CallPairs::of(const FunctionCall& call, const TakesPart& takes_part) {
  const auto* global = call.callee.as<GlobalRef>();
  RELISH_CHECK(global != nullptr, "a call of no function of the module was not refused");
  const FunctionPtr function = job_.module.function(global->name);
  std::vector<std::size_t> wrt;
  for (std::size_t i = 0; i < call.args.size(); ++i)
    if (has_floats(function->params[i].type()) && takes_part(call.args[i])) wrt.push_back(i);
  const std::string key = fmt::format("{} {}", global->name, fmt::join(wrt, ","));
  const auto [place, fresh] = pairs_.try_emplace(key);
  if (!fresh) return place->second;
  CallPair& pair = place->second;
  pair.wrt = std::move(wrt);
  collect_float_leaves(function->result_type, pair.outputs);
  make(*function, pair);
  return pair;
}

void CallPairs::make(const Function& function, CallPair& pair) {
  const std::string backward = job_.module.fresh_name(function.name + "_backward");
  if (!reaches_itself(function.name)) return make_halves(function, pair, backward);
  // Its type is known before its body: that calls it.
  pair.backward = backward;
  for (std::size_t i = 0; i < function.params.size(); ++i) pair.params.push_back(i);
  for (const Var& param : function.params) pair.backward_type.params.push_back(param.type());
  for (const std::vector<int>& path : pair.outputs)
    pair.backward_type.params.push_back(type_at(function.result_type, path));
  TupleType gradients;
  for (const std::size_t i : pair.wrt) gradients.fields.push_back(function.params[i].type());
  pair.backward_type.result = Type(gradients);
  Function whole = half_of(function, backward);
  job_.module.set(std::make_shared<const Function>(whole));  // the name is taken
  BothWays ways = both_ways(job_, function, pair);
  VarMap vars;
  std::vector<Var> values = ways.params;
  values.insert(values.end(), ways.cotangents.begin(), ways.cotangents.end());
  whole.params = own_params(values, vars);
  std::vector<Binding> bindings = over(ways.forward, vars);
  const std::vector<Binding> behind = over(ways.backward, vars);
  bindings.insert(bindings.end(), behind.begin(), behind.end());
  close_function(whole, std::move(bindings), substitute(ways.gradients, vars));
  whole.result_type = pair.backward_type.result;
  job_.module.set(std::make_shared<const Function>(std::move(whole)));
}

void CallPairs::make_halves(const Function& function, CallPair& pair, const std::string& name) {
  BothWays ways = both_ways(job_, function, pair);
  std::vector<Var> taken, kept;
  for (const Var& var : kept_values(ways)) {
    const auto param = std::find(ways.params.begin(), ways.params.end(), var);
    (param == ways.params.end() ? kept : taken).push_back(var);
  }
  std::vector<Var> told = taken;
  told.insert(told.end(), kept.begin(), kept.end());
  if (!tell_all_sizes(ways, told)) taken = ways.params;
  for (const Var& var : taken)
    pair.params.push_back(static_cast<std::size_t>(std::find(ways.params.begin(), ways.params.end(), var) -
                                                   ways.params.begin()));
  if (!kept.empty()) {
    Function first = half_of(function, job_.module.fresh_name(function.name + "_forward"));
    VarMap vars;
    first.params = own_params(ways.params, vars);
    const Expr both = tuple({ways.result, tuple(std::vector<Expr>(kept.begin(), kept.end()), function.span)},
                            function.span);
    close_function(first, over(ways.forward, vars), substitute(both, vars));
    pair.forward = first.name;
    job_.module.set(std::make_shared<const Function>(std::move(first)));
  }
  Function second = half_of(function, name);
  VarMap vars;
  std::vector<Var> values = taken;
  values.insert(values.end(), kept.begin(), kept.end());
  values.insert(values.end(), ways.cotangents.begin(), ways.cotangents.end());
  second.params = own_params(values, vars);
  close_function(second, over(ways.backward, vars), substitute(ways.gradients, vars));
  pair.backward = name;
  pair.backward_type = function_type_of(second);
  job_.module.set(std::make_shared<const Function>(std::move(second)));
}

}  // namespace relish
