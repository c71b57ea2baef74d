// The meaning of graph functions, binding by binding.
#include "interp/graph_evaluator.h"

#include <fmt/format.h>

#include "ir/call_layout.h"
#include "ir/evaluator.h"
#include "ir/fault.h"
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

ScalarValue scalar_constant(const Attribute& attribute) {
  if (const bool* b = attribute.as<bool>()) return ScalarValue::of_bool(*b);
  if (const std::int64_t* i = attribute.as<std::int64_t>()) return ScalarValue::of_int(*i);
  if (const double* d = attribute.as<double>()) return ScalarValue::of_real(*d);
  RELISH_CHECK(false, "attribute of an operator body is not a scalar");
}

bool is_scalar_attribute(const Attribute& attribute) {
  return attribute.as<bool>() || attribute.as<std::int64_t>() || attribute.as<double>();
}

// A leaf that has the type of `value`, for inference on what is really there.
Expr concrete_leaf(const Value& value, const Expr& written) {
  if (value.is_shape()) {
    std::vector<Scalar> dims(value.shape().dims.begin(), value.shape().dims.end());
    return shape_literal(std::move(dims), written.span());
  }
  if (value.is_scalar()) {
    const ScalarValue& scalar = value.scalar();
    return scalar_value(is_float(scalar.dtype) ? float_literal(scalar.dtype, scalar.real)
                                               : int_literal(scalar.dtype, scalar.integer),
                        written.span());
  }
  if (value.is_tensor() || value.is_tuple()) return var_ref(Var("x", type_of(value)), written.span());
  return written;
}

}  // namespace

struct GraphEvaluator::Activation {
  const Function& function;
  SymbolValues symbols;
  std::unordered_map<std::uint64_t, Value> values;
};

Value GraphEvaluator::call(std::string_view name, std::vector<Value> args) {
  if (FunctionPtr function = module_->function(name)) return call_function(*function, std::move(args));
  if (PrimFuncPtr function = module_->prim_func(name)) return call_prim_func(function, std::move(args));
  fail(ErrorClass::Usage, {}, "function.unknown",
       fmt::format("no function '{}' in module {}{}", name, module_->name,
                   did_you_mean(name, module_->names())));
}

Value GraphEvaluator::call_function(const Function& function, std::vector<Value> args) {
  DepthGuard guard(function);
  Activation frame{function, bind_arguments(function, args), {}};
  for (std::size_t i = 0; i < args.size(); ++i)
    frame.values.emplace(function.params[i].id(), std::move(args[i]));

  // The binding after which a variable is dead, so that memory follows liveness.
  std::unordered_map<std::uint64_t, std::size_t> last_use;
  std::size_t position = 0;
  const std::function<void(const Expr&)> note_uses = [&](const Expr& expr) {
    if (const Var* var = expr.as_var())
      last_use[var->id()] = position;
    else if (const auto* t = expr.as<TupleExpr>())
      for (const Expr& e : t->fields) note_uses(e);
    else if (const auto* g = expr.as<TupleGet>())
      note_uses(g->tuple);
    else if (const auto* o = expr.as<OpCall>())
      for (const Expr& e : o->args) note_uses(e);
    else if (const auto* f = expr.as<FunctionCall>())
      for (const Expr& e : f->args) note_uses(e);
    else if (const auto* c = expr.as<CallTir>())
      for (const Expr& e : c->args) note_uses(e);
  };
  for (const BindingBlock& block : function.blocks)
    for (const Binding& binding : block.bindings) {
      last_use[binding.var().id()] = position;
      note_uses(binding.value());
      ++position;
    }
  note_uses(function.result);
  std::vector<std::vector<std::uint64_t>> dying(position + 1);
  for (const auto& [id, at] : last_use) dying[at].push_back(id);

  position = 0;
  for (const BindingBlock& block : function.blocks) {
    for (const Binding& binding : block.bindings) {
      poll_interrupt(binding.span);
      Value value = evaluate(binding.value(), frame);
      if (const auto* match = std::get_if<MatchCast>(&binding.kind)) {
        match_value(value, match->type, frame.symbols, ErrorClass::Runtime, binding.span, "match_cast");
      }
      frame.values.insert_or_assign(binding.var().id(), std::move(value));
      for (const std::uint64_t id : dying[position]) frame.values.erase(id);
      ++position;
    }
  }
  return evaluate(function.result, frame);
}

Value GraphEvaluator::call_prim_func(const PrimFuncPtr& function, std::vector<Value> args) {
  const std::vector<ParamAccess> accesses = param_accesses(*function);
  std::vector<Value> all;
  std::vector<std::size_t> results;
  SymbolValues symbols;
  std::size_t next = 0;
  for (std::size_t i = 0; i < function->params.size(); ++i) {
    const PrimParam& param = function->params[i];
    if (param.buffer() && accesses[i].written && !accesses[i].read) {
      results.push_back(i);
      all.emplace_back();
      continue;
    }
    if (next >= args.size()) {
      fail(ErrorClass::Usage, function->span, "call.arity",
           fmt::format("{}: missing argument '{}'", function->name, param.name()));
    }
    Value value = std::move(args[next++]);
    const std::string what = fmt::format("{}: {}", function->name, param.name());
    if (const Buffer* buffer = param.buffer()) {
      // A bare dim binds here; a dim expression is checked when the program runs, when every symbol is known.
      for (std::size_t d = 0; value.is_tensor() && d < buffer->shape().size(); ++d) {
        if (auto var = buffer->shape()[d].as_var(); var && d < value.tensor().shape().size())
          symbols.emplace(var->id(), value.tensor().shape()[d]);
      }
      if (accesses[i].written && value.is_tensor()) {  // values are immutable: write to a copy
        value = value.tensor().copy();
        results.push_back(i);
      }
    } else if (value.is_scalar() && !is_float(param.scalar()->dtype())) {
      symbols[param.scalar()->id()] = value.scalar().integer;
    }
    all.push_back(std::move(value));
  }
  if (next != args.size()) {
    fail(ErrorClass::Usage, function->span, "call.arity",
         fmt::format("{}: {} arguments given, {} expected", function->name, args.size(), next));
  }
  for (const std::size_t i : results) {
    if (!all[i].is_void()) continue;
    const Buffer& buffer = *function->params[i].buffer();
    const Type type = concrete_type(tensor_type(buffer.shape(), buffer.dtype()), symbols);
    all[i] = Tensor::zeros(buffer.dtype(), concrete_shape(*type.tensor()));
  }
  prepared(function).run(all, ErrorClass::Data, function->span);
  if (results.size() == 1) return all[results[0]];
  std::vector<Value> fields;
  for (const std::size_t i : results) fields.push_back(all[i]);
  return Value::tuple(std::move(fields));
}

const PrimProgram& GraphEvaluator::prepared(const PrimFuncPtr& function) {
  std::unique_ptr<PrimProgram>& program = prim_programs_[function.get()];
  if (!program) program = std::make_unique<PrimProgram>(function);
  return *program;
}

Value GraphEvaluator::evaluate(const Expr& expr, Activation& frame) {
  const auto each = [&](const std::vector<Expr>& exprs) {
    std::vector<Value> values;
    values.reserve(exprs.size());
    for (const Expr& e : exprs) values.push_back(evaluate(e, frame));
    return values;
  };
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
  return std::visit(
      Overloaded{
          [&](const VarRef& n) -> Value {
            const auto found = frame.values.find(n.var.id());
            RELISH_CHECK(found != frame.values.end(), n.var.name());
            return found->second;
          },
          [&](const Constant& n) -> Value { return n.value; },
          [&](const TupleExpr& n) -> Value { return Value::tuple(each(n.fields)); },
          [&](const TupleGet& n) -> Value {
            return evaluate(n.tuple, frame).fields().at(static_cast<std::size_t>(n.index));
          },
          [&](const OpCall& n) -> Value { return evaluate_op(n, expr, frame); },
          [&](const FunctionCall& n) -> Value {
            const auto* global = n.callee.as<GlobalRef>();
            RELISH_CHECK(global != nullptr, "callee is not a global function");
            FunctionPtr callee = module_->function(global->name);
            RELISH_CHECK(callee != nullptr, global->name);
            return call_function(*callee, each(n.args));
          },
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
          [&](const GlobalRef&) -> Value { RELISH_CHECK(false, "a function is not a value here"); },
      },
      expr.node().kind);
}

Value GraphEvaluator::evaluate_op(const OpCall& call, const Expr& expr, Activation& frame) {
  std::vector<Value> args;
  std::vector<Expr> leaves;
  for (const Expr& arg : call.args) {
    args.push_back(evaluate(arg, frame));
    leaves.push_back(concrete_leaf(args.back(), arg));
  }
  const CallView view{*call.op, leaves, call.attributes, expr.span()};
  try {
    // Inference on the real shapes: it gives the result's shape and refuses what only the values show.
    const Type result = call.op->infer(view);
    if (!call.op->eval) return evaluate_body(call, view, std::move(args));
    return call.op->eval(EvalCall{view, args, result});
  } catch (Failure& failure) {
    for (Diagnostic& diagnostic : failure.diagnostics()) {
      if (diagnostic.error_class == ErrorClass::Type) diagnostic.error_class = ErrorClass::Runtime;
      if (!call.op->eval) diagnostic.span = expr.span();  // not the line of the library's text
    }
    failure.at(expr.span());
    throw;
  }
}

Value GraphEvaluator::evaluate_body(const OpCall& call, const CallView& view, std::vector<Value> args) {
  RELISH_CHECK(!call.op->body.empty() && call.op->body_function, std::string(call.op->name));
  const ModulePtr body = body_loader().load(call.op->body);
  for (const auto& [name, attribute] : call.attributes)
    if (is_scalar_attribute(attribute)) args.emplace_back(scalar_constant(attribute));
  return body_evaluator(body).call(call.op->body_function(view), std::move(args));
}

GraphEvaluator& GraphEvaluator::body_evaluator(const ModulePtr& body) {
  std::unique_ptr<GraphEvaluator>& evaluator = bodies_[body.get()];
  if (!evaluator) evaluator = std::make_unique<GraphEvaluator>(body);
  return *evaluator;
}

Value GraphEvaluator::evaluate_call_tir(const CallTir& call, const Expr& expr, Activation& frame) {
  const auto* global = call.callee.as<GlobalRef>();
  RELISH_CHECK(global != nullptr, "callee of call_tir is not a global function");
  PrimFuncPtr callee = module_->prim_func(global->name);
  RELISH_CHECK(callee != nullptr, global->name);
  const std::vector<ParamAccess> accesses = param_accesses(*callee);
  const std::vector<ParamSource> layout = call_layout(*callee, call, expr.span());
  std::vector<Value> params, results(call.out_types.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const std::size_t index = layout[i].index;
    if (layout[i].kind == ParamSource::Argument) {
      Value value = evaluate(call.args[index], frame);
      // A prim_func that writes to an input must not change a value that others hold.
      if (accesses[i].written && value.is_tensor()) value = value.tensor().copy();
      params.push_back(std::move(value));
    } else {
      const Type type = concrete_type(call.out_types[index], frame.symbols);
      results[index] = Tensor::zeros(*type.tensor()->dtype, concrete_shape(*type.tensor()));
      params.push_back(results[index]);
    }
  }
  prepared(callee).run(params, ErrorClass::Runtime, expr.span());
  return call.tuple_result ? Value::tuple(std::move(results)) : results.at(0);
}

}  // namespace relish::interp
