// Ifs, loops and function values.
#include <fmt/format.h>

#include "interp/graph_activation.h"
#include "ir/calls/entry.h"
#include "ir/calls/fault.h"
#include "ir/rewriting/rewrite.h"
#include "support/counted.h"
#include "support/interrupt.h"

namespace relish::interp {
namespace {

Value one_or_tuple(std::vector<Value> values) {
  if (values.empty()) return Value();
  return values.size() == 1 ? std::move(values[0]) : Value::tuple(std::move(values));
}

}  // namespace

// Sizes that a match_cast of the body binds are those of this run of it.
std::vector<Value> GraphEvaluator::run_region(const Region& region, std::vector<Value> args,
                                              Activation& frame) {
  const SymbolValues outside = frame.symbols;
  for (std::size_t i = 0; i < args.size(); ++i)
    frame.values.insert_or_assign(region.params[i].id(), std::move(args[i]));
  run_blocks(region.blocks, region.results, region.params, frame);
  std::vector<Value> results = evaluate_all(region.results, frame);
  for (const Var& param : region.params) frame.values.erase(param.id());
  for (const std::uint64_t id : lifetimes(region.blocks, region.results, region.params).bound)
    frame.values.erase(id);
  frame.symbols = outside;
  return results;
}

Value GraphEvaluator::evaluate_if(const If& branch, const Expr& expr, Activation& frame) {
  const bool taken = condition_of(evaluate(branch.condition, frame), expr.span());
  return one_or_tuple(run_region(taken ? *branch.then_region : *branch.else_region, {}, frame));
}

Value GraphEvaluator::evaluate_loop(const Loop& loop, const Expr& expr, Activation& frame) {
  std::vector<Value> carried = evaluate_all(loop.initial, frame);
  if (!loop.index.defined()) {
    while (condition_of(run_region(*loop.condition, carried, frame).at(0), expr.span())) {
      poll_interrupt(expr.span());
      carried = run_region(*loop.body, std::move(carried), frame);
    }
    return one_or_tuple(std::move(carried));
  }
  const auto bound = [&](const Expr& value) { return evaluate(value, frame).scalar().integer; };
  const std::int64_t begin = bound(loop.begin), end = bound(loop.end), step = bound(loop.step);
  if (step == 0) fail_fault({FaultKind::ZeroStep}, expr.span());
  std::int64_t index = begin;
  while (step > 0 ? index < end : index > end) {
    poll_interrupt(expr.span());
    frame.symbols[loop.index.id()] = index;
    carried = run_region(*loop.body, std::move(carried), frame);
    if (__builtin_add_overflow(index, step, &index)) break;
  }
  frame.symbols.erase(loop.index.id());
  return one_or_tuple(std::move(carried));
}

Value GraphEvaluator::make_closure(const FunctionPtr& function, const Var* self, Activation& frame) {
  auto closure = std::make_shared<ClosureValue>();
  closure->owner = this;
  closure->function = function;
  closure->symbols = frame.symbols;
  if (self) closure->self = self->id();
  for_each_expr(*function, [&](const Expr& expr) {
    const Var* var = expr.as_var();
    const auto held = var ? frame.values.find(var->id()) : frame.values.end();
    if (held != frame.values.end()) closure->captured.insert_or_assign(var->id(), held->second);
  });
  return Value(std::shared_ptr<const ObjectValue>(std::move(closure)));
}

Value GraphEvaluator::call_value(const Value& callee, std::vector<Value> args, Span span) {
  const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&callee.kind());
  const auto* closure = object ? dynamic_cast<const ClosureValue*>(object->get()) : nullptr;
  if (!closure) {
    fail(ErrorClass::Runtime, span, "call.callee",
         fmt::format("{} is called; expected a function", describe(callee)));
  }
  if (!closure->given.empty()) args.insert(args.end(), closure->given.begin(), closure->given.end());
  if (!closure->function) {
    return closure->owner->prepared(closure->prim).run(args, ErrorClass::Runtime, span);
  }
  const Function& function = *closure->function;
  const std::size_t hidden = closure->given.size();
  if (args.size() != function.params.size()) {
    fail(ErrorClass::Runtime, span, "call.arity",
         fmt::format("{} is given {}; it takes {}", function.name, counted(args.size() - hidden, "argument"),
                     function.params.size() - std::min(hidden, function.params.size())));
  }
  Activation frame{function, bind_arguments(function, args, closure->symbols, ErrorClass::Runtime),
                   closure->captured};
  if (closure->self) frame.values.insert_or_assign(*closure->self, callee);
  return closure->owner->run_function(function, frame, std::move(args));
}

}  // namespace relish::interp
