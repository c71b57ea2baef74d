// Making the two halves of a function.
#include "transform/gradient/call_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ir/printer/words.h"
#include "ir/rewriting/regions.h"
#include "ir/rewriting/rewrite.h"
#include "ir/scalars/symbols.h"
#include "support/failure.h"
#include "transform/call_cycles.h"
#include "transform/gradient/body_copy.h"
#include "transform/gradient/copies.h"
#include "transform/gradient/cut.h"
#include "transform/gradient/kept_stack.h"
#include "transform/gradient/made_regions.h"
#include "transform/gradient/path_account.h"
#include "transform/gradient/recomputation.h"
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
  std::vector<Var> tapes, begin;   // as it takes them, and before the first step back
  std::vector<Expr> longer, rest;  // behind the way there, and behind the way back
  std::vector<Binding> forward, backward;
  Expr result, gradients;
};

BothWays both_ways(GradientJob& job, FunctionBuilder& builder, const Function& function, CallPair& pair) {
  BodyCopy body = copy_body(job, function, builder);
  BothWays ways;
  for (const std::size_t i : pair.wrt) job.varied.insert(body.params[i].id());
  job.vary(body.bindings);
  const auto own_tapes = [&] {
    std::vector<Var> tapes;
    for (const Type& type : pair.tapes)
      tapes.emplace_back(builder.fresh_name("tape"), type, false, function.span);
    return tapes;
  };
  Reverse reverse(job, builder, pair.recursion ? &pair.places : nullptr);
  ways.tapes = own_tapes();
  reverse.tapes.assign(ways.tapes.begin(), ways.tapes.end());
  builder.begin_block(false);
  reverse.forward(body.bindings, {body.result});
  builder.end_block();
  ways.forward = builder.take_bindings();
  ways.longer = reverse.tapes;
  ways.params = std::move(body.params);
  ways.result = body.result;
  Adjoint arriving;
  for (const std::vector<int>& path : pair.outputs) {
    ways.cotangents.emplace_back(builder.fresh_name(function.name + "_adjoint"),
                                 type_at(function.result_type, path), false, function.span);
    adjoint_at(arriving, function.result_type, path).value = Expr(ways.cotangents.back());
  }
  ways.begin = own_tapes();
  reverse.tapes.assign(ways.begin.begin(), ways.begin.end());
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
  ways.rest = reverse.tapes;
  builder.end_block();
  ways.backward = builder.take_bindings();
  reverse.complete(ways.forward);
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

// The sizes that the way back mentions, and those that the types of the values tell.
SymbolList mentioned_sizes(const BothWays& ways, const std::vector<Var>& values) {
  SymbolList mentioned;
  for (const Var& var : values) mentioned.add_mentioned(var.type());
  add_mentioned_in(ways.backward, mentioned);
  return mentioned;
}
SymbolList told_sizes(const BothWays& ways, const std::vector<Var>& values) {
  SymbolList told;
  for (const Var& var : values) told.add_determined(var.type());
  for (const Var& var : ways.cotangents) told.add_determined(var.type());
  return told;
}
bool tells_all(const SymbolList& told, const SymbolList& mentioned) {
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

// Whether a parameter of the name keeps it in a text.
bool names_parameter(const std::string& name) {
  constexpr std::string_view words[] = {"R", "T", "I", "cls", "relish", "float"};
  return prints_as_itself(name) && std::find(std::begin(words), std::end(words), name) == std::end(words);
}

// Parameters of its own for values of another function: with names as texts can have them, each its own,
// which values need not have.
std::vector<Var> own_params(const std::vector<Var>& values, VarMap& vars) {
  FunctionBuilder names;
  for (const Var& value : values)
    if (names_parameter(value.name())) names.reserve_name(value.name());
  std::vector<Var> params;
  std::unordered_set<std::string> taken;
  for (const Var& value : values) {
    const bool fits = names_parameter(value.name());
    const bool own = fits && taken.insert(value.name()).second;
    const std::string name = own ? value.name() : names.fresh_name(fits ? value.name() : "value");
    params.emplace_back(name, value.type(), false, value.span());
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
  if (is_float_tensor(type) || (type.as<StackType>() && has_floats(type))) into.push_back(path);
  const TupleType* tuple = type.tuple();
  if (!tuple) return;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
    path.push_back(static_cast<int>(i));
    collect_float_leaves(tuple->fields[i], into, path);
    path.pop_back();
  }
}

bool holds_recursion(const GradientJob& job, const Expr& value) {
  bool found = false;
  for_each_expr(value, [&](const Expr& expr) {
    const auto* call = expr.as<FunctionCall>();
    const auto* global = call ? call->callee.as<GlobalRef>() : nullptr;
    found = found || (global && !job.user_gradient_of(*call) && job.pairs->reaches_itself(global->name));
  });
  return found;
}

bool CallPairs::reaches_itself(const std::string& name) {
  if (!cyclic_) {
    CallGraph calls;
    for (const GlobalFunction& global : job_.module.functions)
      if (const auto* function = std::get_if<FunctionPtr>(&global))
        calls.emplace((*function)->name, global_references(*job_.body_of(**function)));
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
  for_each_binding(*job_.body_of(function), [&](const Binding& binding) {
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
  if (reaches_itself(function.name)) return make_recursive(function, pair, backward);
  if (job_.account) job_.account->enter(function.name);
  make_halves(function, pair, backward);
  if (job_.account) job_.account->leave();
}

// The types of both halves are known before their bodies, which call them.
void CallPairs::set_types(const Function& function, CallPair& pair, const std::vector<Type>& tapes) {
  pair.tapes = tapes;
  FunctionType ahead, back;
  for (const Var& param : function.params) ahead.params.push_back(param.type());
  ahead.params.insert(ahead.params.end(), tapes.begin(), tapes.end());
  back.params = ahead.params;
  for (const std::vector<int>& path : pair.outputs)
    back.params.push_back(type_at(function.result_type, path));
  TupleType longer{{function.result_type}}, gradients;
  for (const std::size_t i : pair.wrt) gradients.fields.push_back(function.params[i].type());
  for (TupleType* each : {&longer, &gradients})
    each->fields.insert(each->fields.end(), tapes.begin(), tapes.end());
  ahead.result = Type(longer);
  back.result = Type(gradients);
  pair.forward_type = std::move(ahead);
  pair.backward_type = std::move(back);
}

// First without tapes, to see what is kept where, of all functions that are met on the way; then for good.
void CallPairs::make_recursive(const Function& function, CallPair& pair, const std::string& backward) {
  pair.recursion = true;
  pair.backward = backward;
  const auto take_name = [&](const std::string& name) {
    job_.module.set(std::make_shared<const Function>(half_of(function, name)));
  };
  take_name(pair.backward);
  pair.forward = job_.module.fresh_name(function.name + "_forward");
  take_name(pair.forward);
  for (std::size_t i = 0; i < function.params.size(); ++i) pair.params.push_back(i);
  set_types(function, pair, {});
  const bool first = together_.empty();
  together_.emplace_back(std::make_shared<const Function>(function), &pair);
  make_taped_halves(function, pair);
  if (!first) return;
  std::vector<Type> tapes;
  for (const auto& [each, made] : together_) {
    made->places.base = tapes.size();
    tapes.insert(tapes.end(), made->places.found.begin(), made->places.found.end());
  }
  for (const auto& [each, made] : together_) {
    made->places.trial = false;
    set_types(*each, *made, tapes);
  }
  for (const auto& [each, made] : together_) make_taped_halves(*each, *made);
  together_.clear();
}

void CallPairs::make_taped_halves(const Function& function, CallPair& pair) {
  // Nothing is told of the trial.
  PathAccount* const account = std::exchange(job_.account, pair.places.trial ? nullptr : job_.account);
  if (job_.account) job_.account->enter(function.name);
  FunctionBuilder builder;
  BothWays ways = both_ways(job_, builder, function, pair);
  if (job_.account) job_.account->leave();
  Region back;
  back.blocks.emplace_back();
  back.blocks.front().bindings = ways.backward;
  back.results = ways.gradients.as<TupleExpr>()->fields;
  back.results.insert(back.results.end(), ways.rest.begin(), ways.rest.end());
  const Cut cut = cut_between({}, ways.forward, back);
  std::optional<std::size_t> place;
  if (!cut.kept.empty()) place = pair.places.place(kept_stack_type(cut.kept));
  if (job_.account) tell_taped(cut, *job_.account);
  job_.account = account;
  if (pair.places.trial) return;

  builder.begin_block(false);
  for (const Binding& binding : ways.forward) builder.append(binding);
  std::vector<Expr> longer = ways.longer;
  if (place) longer[*place] = pushed(longer[*place], cut.kept, "tape", builder);
  builder.end_block();
  longer.insert(longer.begin(), ways.result);
  Function first = half_of(function, pair.forward);
  VarMap vars;
  first.params = own_params(ways.params, vars);
  for (const Var& tape : own_params(ways.tapes, vars)) first.params.push_back(tape);
  close_function(first, over(builder.take_bindings(), vars), substitute(tuple(longer, function.span), vars));
  first.result_type = pair.forward_type.result;
  job_.module.set(without_marks(std::move(first)));

  builder.begin_block(false);
  VarMap kept;
  for (std::size_t k = 0; k < ways.begin.size(); ++k) kept.emplace(ways.begin[k].id(), Expr(ways.tapes[k]));
  if (place)
    kept[ways.begin[*place].id()] = popped(Expr(ways.tapes[*place]), cut.kept, "tape", kept, builder);
  const Expr gradients = tuple(replayed(cut, back, kept, {}, builder), function.span);
  builder.end_block();
  Function second = half_of(function, pair.backward);
  VarMap own;
  second.params = own_params(ways.params, own);
  for (const std::vector<Var>* more : {&ways.tapes, &ways.cotangents})
    for (const Var& param : own_params(*more, own)) second.params.push_back(param);
  close_function(second, over(builder.take_bindings(), own), substitute(gradients, own));
  second.result_type = pair.backward_type.result;
  job_.module.set(without_marks(std::move(second)));
}

void CallPairs::make_halves(const Function& function, CallPair& pair, const std::string& name) {
  FunctionBuilder builder;
  BothWays ways = both_ways(job_, builder, function, pair);
  ValueIds wanted = job_.again;
  if (job_.keeping == Keeping::Little)
    for (const Binding& binding : ways.forward)
      if (can_repeat(binding)) wanted.insert(binding.var().id());
  if (const ValueIds again = values_to_compute_again(ways.forward, wanted); !again.empty())
    ways.backward = computed_again(ways.forward, ways.backward, again, {ways.gradients}, builder);
  std::vector<Var> taken, kept;
  for (const Var& var : kept_values(ways)) {
    const auto param = std::find(ways.params.begin(), ways.params.end(), var);
    (param == ways.params.end() ? kept : taken).push_back(var);
    if (job_.account) job_.account->keep(var, "to the end", bytes_of(var.type()));
  }
  std::vector<Var> told = taken;
  told.insert(told.end(), kept.begin(), kept.end());
  const SymbolList mentioned = mentioned_sizes(ways, told);
  if (!tells_all(told_sizes(ways, told), mentioned)) {
    taken = ways.params;
    told.insert(told.end(), taken.begin(), taken.end());
    for (const Var& var : size_tellers(ways.forward, mentioned, told_sizes(ways, told))) kept.push_back(var);
  }
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
    pair.forward_type = function_type_of(first);
    job_.module.set(without_marks(std::move(first)));
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
  job_.module.set(without_marks(std::move(second)));
}

}  // namespace relish
