// Widening, binding by binding: every type is inferred again from the widened operands.
#include "transform/widen.h"

#include <algorithm>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/operators/op.h"
#include "ir/operators/user_gradient.h"
#include "support/failure.h"
#include "transform/inline_calls.h"
#include "transform/rebuild.h"
#include "transform/widen_prim_func.h"

namespace relish {
namespace {

struct NotWidened {};  // thrown where a value cannot be

bool is_narrow(DType dtype) { return is_float(dtype) && dtype != DType::Float64; }

Type widen(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    TupleType result;
    for (const Type& field : tuple->fields) result.fields.push_back(widen(field));
    return result;
  }
  if (const TensorType* tensor = type.tensor()) {
    TensorType result = *tensor;
    if (result.dtype && is_narrow(*result.dtype)) result.dtype = DType::Float64;
    return result;
  }
  return type;
}

Tensor widen(const Tensor& tensor) {
  if (!is_narrow(tensor.dtype())) return tensor;
  Tensor result = Tensor::empty(DType::Float64, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

class Widening {
 public:
  // What the function calls is of `from`; its widened form goes into `into`.
  Widening(const Module& from, Module& into) : from_(from), into_(into) {}

  Function run(const Function& source) {
    Function result = source;
    result.params.clear();
    for (const Var& param : source.params) {
      builder_.reserve_name(param.name());
      result.params.emplace_back(param.name(), widen(param.type()), false, param.span());
    }
    builder_.begin_block(true);
    const std::vector<Expr> args(result.params.begin(), result.params.end());
    const Expr value = builder_.emit(body(source, args));
    builder_.end_block();
    std::vector<Binding> bindings = builder_.take_bindings();
    result.result_type = value.type();
    close_function(result, std::move(bindings), value);
    return result;
  }

 private:
  // The leaf that the function gives for `args`.
  Expr body(const Function& function, const std::vector<Expr>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) vars_.insert_or_assign(function.params[i].id(), args[i]);
    copy(all_bindings(function));
    return widen_value(function.result);
  }

  void copy(const std::vector<Binding>& bindings) {
    for (const Binding& binding : bindings) {
      builder_.set_origin(binding.span);
      Expr value = widen_value(binding.value());
      if (const auto* cast = std::get_if<MatchCast>(&binding.kind)) {
        Binding made;
        const Type type = widen(cast->type);
        made.kind =
            MatchCast{Var(builder_.fresh_name(cast->var.name()), type, builder_.in_dataflow(), binding.span),
                      builder_.emit(value), type};
        made.span = binding.span;
        vars_.insert_or_assign(cast->var.id(), Expr(made.var()));
        builder_.append(made);
      } else {
        vars_.insert_or_assign(binding.var().id(), builder_.emit(value, binding.var().name()));
      }
    }
  }

  // The block around a region ends with it.
  Region widen_region(const Region& region) {
    std::vector<Var> params;
    for (const Var& param : region.params) {
      params.emplace_back(builder_.fresh_name(param.name()), widen(param.type()), false, param.span());
      vars_.insert_or_assign(param.id(), Expr(params.back()));
    }
    builder_.begin_region(std::move(params));
    builder_.begin_block(false);
    copy(all_bindings(region.blocks));
    std::vector<Expr> results;
    for (const Expr& value : widen_values(region.results)) results.push_back(builder_.emit(value));
    builder_.end_block();
    Region made = builder_.end_region(std::move(results));
    builder_.begin_block(false);
    return made;
  }

  Expr widen_if(If branch, Span span) {
    branch.condition = builder_.emit(widen_value(branch.condition));
    return with_regions(branch, [&](const Region& region, RegionRole) { return widen_region(region); }, span);
  }

  Expr widen_loop(Loop loop, Span span) {
    for (Expr* bound : {&loop.begin, &loop.end, &loop.step})
      if (bound->defined()) *bound = widen_value(*bound);
    for (Expr& value : loop.initial) value = builder_.emit(widen_value(value));
    return with_regions(
        std::move(loop), [&](const Region& region, RegionRole) { return widen_region(region); }, span);
  }

  std::vector<Expr> widen_values(const std::vector<Expr>& exprs) {
    std::vector<Expr> result;
    for (const Expr& expr : exprs) result.push_back(widen_value(expr));
    return result;
  }

  Expr widen_value(const Expr& expr) {
    if (const Var* var = expr.as_var()) return vars_.at(var->id());
    if (const auto* constant = expr.as<Constant>())
      return relish::constant(widen(constant->value), expr.span());
    if (const auto* literal = expr.as<TupleExpr>()) return tuple(widen_values(literal->fields), expr.span());
    if (const auto* get = expr.as<TupleGet>())
      return tuple_get(widen_value(get->tuple), get->index, expr.span());
    if (const auto* call = expr.as<OpCall>()) {
      Attributes attributes = call->attributes;
      for (auto& [name, attribute] : attributes) {
        if (!name.ends_with("dtype")) continue;
        const auto* text = attribute.as<std::string>();
        const auto* literal = attribute.as<DType>();
        const auto dtype = text ? dtype_from_name(*text) : literal ? std::optional(*literal) : std::nullopt;
        if (!dtype || !is_narrow(*dtype)) continue;
        if (text)
          attribute = std::string(name_of(DType::Float64));
        else
          attribute = DType::Float64;
      }
      return op_call(*call->op, widen_values(call->args), std::move(attributes), expr.span());
    }
    if (const auto* call = expr.as<CallTir>()) return widen_call(*call, expr.span());
    if (const auto* branch = expr.as<If>()) return widen_if(*branch, expr.span());
    if (const auto* loop = expr.as<Loop>()) return widen_loop(*loop, expr.span());
    const bool plain = expr.as<ShapeLiteral>() || expr.as<ScalarValueExpr>() || expr.as<StringLiteral>() ||
                       expr.as<DTypeLiteral>();
    if (!plain) throw NotWidened{};
    return expr;
  }

  // A gradient that the user wrote belongs to the prim_func as it is.
  Expr widen_call(const CallTir& call, Span span) {
    const auto* callee = call.callee.as<GlobalRef>();
    const PrimFuncPtr prim = callee ? from_.prim_func(callee->name) : nullptr;
    if (!prim || !call.gradient_name.empty() || user_gradient(from_, prim->name)) throw NotWidened{};
    if (!into_.find(prim->name)) {
      std::optional<PrimFunc> wide = widened(*prim);
      if (!wide) throw NotWidened{};
      into_.set(std::make_shared<const PrimFunc>(*std::move(wide)));
    }
    CallTir made = call;
    made.callee = global_ref(GlobalFunction(into_.prim_func(prim->name)), call.callee.span());
    for (Expr& arg : made.args) {
      const auto* number = arg.as<ScalarValueExpr>();
      if (!number || !is_narrow(number->value.dtype())) {
        arg = widen_value(arg);
        continue;
      }
      const auto* literal = number->value.as<FloatLiteral>();
      if (!literal) throw NotWidened{};
      arg = scalar_value(float_literal(DType::Float64, literal->value, arg.span()), arg.span());
    }
    for (Type& type : made.out_types) type = widen(type);
    return call_tir(std::move(made), span);
  }

  const Module& from_;
  Module& into_;
  FunctionBuilder builder_;
  VarMap vars_;  // by the variables of the source
};

}  // namespace

std::optional<Module> widened(const Module& module, std::string_view function) {
  const FunctionPtr source = relax_function(module, function);
  try {
    Module result;
    result.name = module.name;
    // Calls that stay are recursions, or have a gradient that the user wrote and that belongs to them as they
    // are.
    const FunctionPtr whole = with_calls_inlined(module, source->name);
    result.set(std::make_shared<const Function>(Widening(module, result).run(*whole)));
    return result;
  } catch (const NotWidened&) {
    return std::nullopt;
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Type) throw;
    return std::nullopt;  // a rule that refuses float64
  }
}

Value widened(const Value& value) {
  if (value.is_tuple()) {
    std::vector<Value> fields;
    for (const Value& field : value.fields()) fields.push_back(widened(field));
    return Value::tuple(std::move(fields));
  }
  if (!value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  if (!is_float(tensor.dtype()) || tensor.dtype() == DType::Float64) return value;
  Tensor result = Tensor::empty(DType::Float64, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

}  // namespace relish
