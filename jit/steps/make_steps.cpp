// Steps of parameters, bindings, leaves and results.
#include <fmt/format.h>

#include "ir/operators/op.h"
#include "ir/operators/value_marks.h"
#include "ir/scalars/symbols.h"
#include "ir/scalars/twice_given.h"
#include "jit/steps/giving_up.h"
#include "jit/steps/lifetimes.h"
#include "jit/steps/rows_ahead.h"
#include "jit/steps/step_maker.h"
#include "support/failure.h"
#include "support/interrupt.h"
#include "support/overloaded.h"

namespace relish::jit {

FunctionSteps StepMaker::run() {
  const LiftedFunction& known = lifted_function(program_.functions(), function_.name);
  made_.name = written_name(program_.functions(), function_.name);
  made_.span = span_ = function_.span;
  made_.owns_results = known.owns_results;
  made_.recursive = known.recursive;
  params();
  const std::size_t entry = made_.steps.size();
  const std::unordered_set<std::uint64_t> known_at_entry = symbols_;
  for (const BindingBlock& block : function_.blocks)
    for (const Binding& each : block.bindings) {
      poll_interrupt(each.span);
      binding(each);
    }
  result();
  give_up_last_uses(made_, program_);
  if (known.carried > 0) tell_rows_ahead(made_, entry, known.carried, known.effects);
  made_.steps = with_memory(std::move(made_.steps), made_.places, entry, known_at_entry);
  return std::move(made_);
}

void StepMaker::params() {
  std::size_t leaves = 0;
  for (const Var& param : function_.params) {
    span_ = param.span().known() ? param.span() : function_.span;
    ValueTree made = tree(param.type(), Place::Param);
    for_each_leaf(made, [&](const ValueTree& leaf) {
      if (!leaf.has_storage()) return;
      Place& place = made_.places[leaf.place];
      place.leaf = leaves++;
      place.donated = leaf.kind == ValueTree::TensorLeaf && place.leaf < made_.donated.size() &&
                      made_.donated[place.leaf];
    });
    bind_sizes(made, param.type());
    vars_.insert_or_assign(param.id(), made);
    made_.params.push_back(std::move(made));
  }
  // A dimension that has the name of a scalar parameter has its value.
  const ScalarParameters scalars(function_);
  for_each_symbol(function_, [&](const ScalarVar& symbol) {
    if (const auto param = scalars.of(symbol))
      bind(symbol, vars_.at(param->id()).place, step::BindSize::scalar);
  });
  // Arguments of the whole call are checked before compiled code runs; these are for calls from other
  // functions.
  for (const Var& param : function_.params)
    match(vars_.at(param.id()), param.type(), param.span(), fmt::format("{}: {}", made_.name, param.name()));
  for (const auto& [symbol, at] : twice_given(function_.params)) {
    const Var& param = function_.params[at];
    span_ = param.span();
    emit(step::CheckSize{vars_.at(param.id()).place, symbol, scalar_size_words(made_.name, param.name())});
  }
}

void StepMaker::binding(const Binding& binding) {
  poll_interrupt(binding.span);
  span_ = binding.value().span().known() ? binding.value().span() : binding.span;
  emit(step::Poll{binding.var()});
  ValueTree bound = value(binding.value());
  if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
    bound = convert(bound, cast->type, binding.span, [] { return "match_cast"; });
    match(bound, cast->type, binding.span, "match_cast");
  }
  vars_.insert_or_assign(binding.var().id(), std::move(bound));
}

void StepMaker::result() {
  span_ = function_.result_span.known() ? function_.result_span : function_.span;
  made_.result = value(function_.result);
  if (made_.owns_results) {
    // Callers read what belongs to them by the type that the function declares. A function that owns its
    // results hands out each tensor once: those that it has made itself as they are, others shared.
    made_.result = convert(made_.result, function_.result_type, function_.result_span,
                           [&] { return function_.name + ": the result"; });
    made_.result = for_others(made_.result);
  }
  give(made_.result);
  emit(step::Return{made_.result});
}

// The field that a chain of TupleGets takes of a variable; null for other values.
const ValueTree* StepMaker::part_of_variable(const Expr& expr) const {
  if (const Var* var = expr.as_var()) {
    const auto found = vars_.find(var->id());
    RELISH_CHECK(found != vars_.end(), var->name());
    return &found->second;
  }
  const auto* get = expr.as<TupleGet>();
  const ValueTree* whole = get ? part_of_variable(get->tuple) : nullptr;
  return whole ? &whole->fields.at(static_cast<std::size_t>(get->index)) : nullptr;
}

ValueTree StepMaker::value(const Expr& expr) {
  if (const ValueTree* known = part_of_variable(expr)) return *known;
  return visit_kind(
      Overloaded{
          [&](const VarRef& n) { return vars_.at(n.var.id()); },
          [&](const Constant& n) { return constant(n.value); },
          [&](const TupleExpr& n) {
            ValueTree made;
            made.fields = values(n.fields);
            return made;
          },
          [&](const TupleGet& n) { return value(n.tuple).fields.at(static_cast<std::size_t>(n.index)); },
          [&](const OpCall& n) {
            if (const Expr* same = marked_tensor(expr)) return value(*same);
            std::vector<ValueTree> args = values(n.args);
            ValueTree made = tree(expr.type(), Place::Returned);
            emit(step::EvaluateOperator{expr, std::move(args), made});
            if (runs_as_call(*n.op))
              match(made, expr.type(), expr.span(), fmt::format("the result of {}", short_name_of(*n.op)));
            return made;
          },
          [&](const FunctionCall& n) { return function_call(n, expr); },
          [&](const CallTir& n) { return call_tir(n, expr); },
          [&](const PackedCall& n) { return packed_call(n, expr); },
          [&](const ShapeLiteral& n) { return shape(n.dims); },
          [&](const ScalarValueExpr& n) { return scalar(n.value); },
          [&](const StringLiteral&) { return text(expr); },
          [&](const DTypeLiteral&) { return text(expr); },
          [&](const GlobalRef& n) { return global(n, expr); },
          [&](const ExternFunc&) { return text(expr); },
          [](const FunctionExpr&) -> ValueTree {
            RELISH_CHECK(false, "a nested function that is not lifted");
          },
          [&](const If& n) { return if_value(n, expr); },
          [&](const Loop& n) { return loop_value(n, expr); },
      },
      expr);
}

std::vector<ValueTree> StepMaker::values(const std::vector<Expr>& exprs) {
  std::vector<ValueTree> made;
  made.reserve(exprs.size());
  for (const Expr& expr : exprs) made.push_back(value(expr));
  return made;
}

// Literals, and functions outside the module, which are their symbols.
ValueTree StepMaker::text(const Expr& expr) {
  ValueTree leaf;
  leaf.kind = ValueTree::TextLeaf;
  if (const auto* literal = expr.as<StringLiteral>()) leaf.text = literal->value;
  if (const auto* dtype = expr.as<DTypeLiteral>()) leaf.text = std::string(name_of(dtype->value));
  if (const auto symbol = packed_symbol(program_.module(), expr)) leaf.text = *symbol;
  return leaf;
}

ValueTree StepMaker::global(const GlobalRef& ref, const Expr& expr) {
  if (const FunctionPtr callee = program_.module().function(ref.name))
    return function_value(callee, {}, Type());
  if (!packed_symbol(program_.module(), expr))
    not_compiled(expr.span(), "a prim_func as a value is not compiled");
  return text(expr);
}

ValueTree StepMaker::argument(const Expr& expr, const Function& callee, std::size_t position) {
  const Var& param = callee.params[position];
  return convert(value(expr), param.type(), param.span(), [&] {
    return fmt::format("{}: {}", written_name(program_.functions(), callee.name), param.name());
  });
}

}  // namespace relish::jit
