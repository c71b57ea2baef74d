// The meaning of graph functions, binding by binding.
#include "interp/graph_evaluator.h"

#include <bit>

#include <fmt/format.h>

#include "interp/graph_activation.h"
#include "ir/calls/direct_calls.h"
#include "ir/calls/fault.h"
#include "ir/calls/foreign_calls.h"
#include "ir/calls/prim_arguments.h"
#include "ir/rewriting/rewrite.h"
#include "support/counted.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/overloaded.h"
#include "support/suggest.h"

namespace relish::interp {
namespace {

// Depth of active Relax calls on this thread.
thread_local std::uint32_t call_depth = 0;

struct DepthGuard {
  explicit DepthGuard(const Function& function) {
    if (++call_depth > limits().max_call_depth) {
      --call_depth;
      fail_fault({FaultKind::CallDepth, function.name, {limits().max_call_depth}}, function.span);
    }
  }
  ~DepthGuard() { --call_depth; }
};

}  // namespace

Value GraphEvaluator::call(std::string_view name, std::vector<Value> args) {
  if (FunctionPtr function = module_->function(name)) {
    if (!runnable_.contains(std::string(name))) {
      require_runnable(*module_, name);
      runnable_.emplace(name);
    }
    if (calls_directly(*module_, name)) args = own_copies(std::move(args));
    return call_function(*function, std::move(args), ErrorClass::Data);
  }
  if (PrimFuncPtr function = module_->prim_func(name)) return call_prim_func(function, std::move(args));
  fail(ErrorClass::Usage, {}, "function.unknown",
       fmt::format("no function '{}' in module {}{}", name, module_->name,
                   did_you_mean(name, module_->names())));
}

Value GraphEvaluator::call_function(const Function& function, std::vector<Value> args,
                                    ErrorClass error_class) {
  Activation frame{function, bind_arguments(function, args, {}, error_class), {}};
  return run_function(function, frame, std::move(args));
}

Value GraphEvaluator::run_function(const Function& function, Activation& frame, std::vector<Value> args) {
  DepthGuard guard(function);
  for (std::size_t i = 0; i < args.size(); ++i)
    frame.values.insert_or_assign(function.params[i].id(), std::move(args[i]));
  run_blocks(function.blocks, {function.result}, function.params, frame);
  return evaluate(function.result, frame);
}

const GraphEvaluator::Lifetimes& GraphEvaluator::lifetimes(const std::vector<BindingBlock>& blocks,
                                                           const std::vector<Expr>& results,
                                                           const std::vector<Var>& params) {
  const auto known = lifetimes_.find(&blocks);
  if (known != lifetimes_.end()) return known->second;
  Lifetimes lifetimes;
  std::unordered_map<std::uint64_t, std::size_t> last_use;
  std::size_t position = 0;
  const auto note_uses = [&](const Expr& value) {
    for_each_expr(value, [&](const Expr& expr) {
      const Var* var = expr.as_var();
      const auto own = var ? last_use.find(var->id()) : last_use.end();
      if (own != last_use.end()) own->second = position;
    });
  };
  for (const Var& param : params) last_use[param.id()] = position;
  for (const BindingBlock& block : blocks) {
    for (const Binding& binding : block.bindings) {
      note_uses(binding.value());
      last_use[binding.var().id()] = position;
      lifetimes.bound.push_back(binding.var().id());
      ++position;
    }
  }
  for (const Expr& result : results) note_uses(result);
  lifetimes.dying.resize(position + 1);
  for (const auto& [id, at] : last_use) lifetimes.dying[at].push_back(id);
  return lifetimes_.emplace(&blocks, std::move(lifetimes)).first->second;
}

// Memory follows liveness: a value goes after its last use. Those of the results stay.
void GraphEvaluator::run_blocks(const std::vector<BindingBlock>& blocks, const std::vector<Expr>& results,
                                const std::vector<Var>& params, Activation& frame) {
  const Lifetimes& plan = lifetimes(blocks, results, params);
  std::size_t position = 0;
  for (const BindingBlock& block : blocks) {
    for (const Binding& binding : block.bindings) {
      poll_interrupt(binding.span);
      const auto* nested = binding.value().as<FunctionExpr>();
      Value value;
      frame.dying = &plan.dying[position];
      try {
        value =
            nested ? make_closure(nested->function, &binding.var(), frame) : evaluate(binding.value(), frame);
      } catch (Failure& failure) {
        // Of what has no place yet: a tensor that cannot be made.
        failure.at(binding.value().span().known() ? binding.value().span() : binding.span);
        throw;
      }
      if (const auto* match = std::get_if<MatchCast>(&binding.kind))
        match_value(value, match->type, frame.symbols, ErrorClass::Runtime, binding.span, "match_cast");
      frame.values.insert_or_assign(binding.var().id(), std::move(value));
      for (const std::uint64_t id : plan.dying[position]) frame.values.erase(id);
      ++position;
    }
  }
}

std::vector<Value> GraphEvaluator::evaluate_all(const std::vector<Expr>& exprs, Activation& frame) {
  std::vector<Value> values;
  values.reserve(exprs.size());
  for (const Expr& expr : exprs) values.push_back(evaluate(expr, frame));
  return values;
}

Value GraphEvaluator::call_prim_func(const PrimFuncPtr& function, std::vector<Value> args) {
  require_runnable(*function);
  PrimArguments bound = bind_prim_func(*function, std::move(args));
  Value returned = prepared(function).run(bound.all, ErrorClass::Data, function->span);
  return function->result_dtype ? returned : bound.result();
}

Value GraphEvaluator::evaluate(const Expr& expr, Activation& frame) {
  const auto symbol = [&](const ScalarVar& var) -> std::optional<std::int64_t> {
    const auto found = frame.symbols.find(var.id());
    return found == frame.symbols.end() ? std::nullopt : std::optional(found->second);
  };
  const auto dim_value = [&](const Scalar& scalar) {
    const std::optional<std::int64_t> value = evaluate_int(scalar, symbol);
    if (!value) fail(ErrorClass::Runtime, expr.span(), "symbol.unknown", "a symbolic size has no value here");
    return *value;
  };
  // A float scalar: literals, sizes cast to it, and arithmetic that rounds once to the dtype.
  const std::function<double(const Scalar&)> real_value = [&](const Scalar& scalar) -> double {
    if (const auto* literal = scalar.as<FloatLiteral>()) return literal->value;
    if (const auto var = scalar.as_var()) {
      if (const auto bits = symbol(*var)) return std::bit_cast<double>(*bits);
    }
    double value = 0;
    if (const auto* cast = scalar.as<Cast>()) {
      value = is_float(cast->a.dtype()) ? real_value(cast->a) : static_cast<double>(dim_value(cast->a));
    } else if (const auto* binary = scalar.as<Binary>()) {
      const double a = real_value(binary->a), b = real_value(binary->b);
      switch (binary->op) {
        case BinaryOp::Add:
          value = a + b;
          break;
        case BinaryOp::Sub:
          value = a - b;
          break;
        case BinaryOp::Mul:
          value = a * b;
          break;
        case BinaryOp::Div:
          value = a / b;
          break;
        default:
          fail(ErrorClass::Type, scalar.span(), "scalar.form", "a scalar of this form has no value here");
      }
    } else {
      fail(ErrorClass::Type, scalar.span(), "scalar.form", "a scalar of this form has no value here");
    }
    return Tensor::scalar(scalar.dtype(), value).get_double(0);
  };
  return visit_kind(
      Overloaded{
          [&](const VarRef& n) -> Value {
            const auto found = frame.values.find(n.var.id());
            RELISH_CHECK(found != frame.values.end(), n.var.name());
            return found->second;
          },
          [&](const Constant& n) -> Value { return n.value; },
          [&](const TupleExpr& n) -> Value { return Value::tuple(evaluate_all(n.fields, frame)); },
          [&](const TupleGet& n) -> Value {
            return evaluate(n.tuple, frame).fields().at(static_cast<std::size_t>(n.index));
          },
          [&](const OpCall& n) -> Value { return evaluate_op(n, expr, frame); },
          [&](const FunctionCall& n) -> Value { return evaluate_call(n, expr, frame); },
          [&](const CallTir& n) -> Value { return evaluate_call_tir(n, expr, frame); },
          [&](const ShapeLiteral& n) -> Value {
            ShapeValue shape;
            for (const Scalar& dim : n.dims) shape.dims.push_back(dim_value(dim));
            return shape;
          },
          [&](const ScalarValueExpr& n) -> Value {
            if (is_float(n.value.dtype())) return ScalarValue::of_real(real_value(n.value), n.value.dtype());
            return ScalarValue{n.value.dtype(), dim_value(n.value), 0};
          },
          [&](const StringLiteral& n) -> Value { return n.value; },
          [&](const DTypeLiteral& n) -> Value { return std::string(name_of(n.value)); },
          [&](const GlobalRef& n) -> Value { return global_value(n, expr.span()); },
          [&](const PackedCall& n) -> Value { return evaluate_packed(n, expr, frame); },
          [&](const ExternFunc& n) -> Value { return n.symbol; },
          [&](const FunctionExpr& n) -> Value { return make_closure(n.function, nullptr, frame); },
          [&](const If& n) -> Value { return evaluate_if(n, expr, frame); },
          [&](const Loop& n) -> Value { return evaluate_loop(n, expr, frame); },
      },
      expr);
}

}  // namespace relish::interp
