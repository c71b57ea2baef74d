// Calls: operators by their reference evaluation, functions of the module, prim_funcs, and what lies outside.
#include <fmt/format.h>

#include <algorithm>

#include "interp/graph_activation.h"
#include "ir/calls/call_layout.h"
#include "ir/calls/entry.h"
#include "ir/calls/fault.h"
#include "ir/calls/packed_result.h"
#include "ir/operators/op_evaluation.h"
#include "runtime/machine.h"
#include "runtime/native.h"
#include "support/counted.h"
#include "support/render.h"

namespace relish::interp {
namespace {

// The type with the sizes of the run. None where it names no sizes, and where one of them has no value: the
// operator tells what is wrong.
std::optional<Type> result_of_text(const Type& type, const SymbolValues& symbols) {
  const TensorType* tensor = type.tensor();
  const auto known = [](const Scalar& dim) { return dim.as_int().has_value(); };
  if (!tensor || !tensor->shape || std::all_of(tensor->shape->begin(), tensor->shape->end(), known))
    return std::nullopt;
  try {
    return concrete_type(type, symbols);
  } catch (const Failure& failure) {
    if (failure.error_class() != ErrorClass::Runtime) throw;
    return std::nullopt;
  }
}

}  // namespace

const PrimProgram& GraphEvaluator::prepared(const PrimFuncPtr& function) {
  std::unique_ptr<PrimProgram>& program = prim_programs_[function.get()];
  if (!program) program = std::make_unique<PrimProgram>(function);
  return *program;
}

Value GraphEvaluator::evaluate_op(const OpCall& call, const Expr& expr, Activation& frame) {
  const std::vector<Value> args = evaluate_all(call.args, frame);
  const std::optional<Type> of_text = result_of_text(expr.type(), frame.symbols);
  Value value = evaluate_operator(call, args, expr.span(), of_text ? &*of_text : nullptr);
  // What is no function of the arguments' types, as what lay on a stack, must be as the text says.
  if (runs_as_call(*call.op))
    match_value(value, expr.type(), frame.symbols, ErrorClass::Runtime, expr.span(),
                fmt::format("the result of {}", short_name_of(*call.op)));
  return value;
}

Value GraphEvaluator::global_value(const GlobalRef& global, Span span) {
  auto closure = std::make_shared<ClosureValue>();
  closure->owner = this;
  closure->function = module_->function(global.name);
  closure->prim = module_->prim_func(global.name);
  if (ExternFunctionPtr external = module_->extern_function(global.name)) return external->symbol;
  RELISH_CHECK(closure->function || closure->prim, global.name);
  static_cast<void>(span);
  return Value(std::shared_ptr<const ObjectValue>(std::move(closure)));
}

// What a function value gives is what the text says, which only its caller knows.
Value GraphEvaluator::called(const Value& callee, std::vector<Value> args, const Expr& expr,
                             const Activation& frame) {
  Value result = call_value(callee, std::move(args), expr.span());
  SymbolValues symbols = frame.symbols;
  match_value(result, expr.type(), symbols, ErrorClass::Runtime, expr.span(), "the result of the call");
  return result;
}

Value GraphEvaluator::evaluate_call(const FunctionCall& call, const Expr& expr, Activation& frame) {
  const auto* global = call.callee.as<GlobalRef>();
  if (!global) return called(evaluate(call.callee, frame), evaluate_all(call.args, frame), expr, frame);
  if (FunctionPtr callee = module_->function(global->name))
    return call_function(*callee, evaluate_all(call.args, frame), ErrorClass::Runtime);
  if (ExternFunctionPtr external = module_->extern_function(global->name)) {
    const PackedCall packed{PackedForm::Impure, call.callee, call.args, {}};
    return call_native_function(external->symbol, packed, evaluate_all(call.args, frame), expr, frame);
  }
  PrimFuncPtr callee = module_->prim_func(global->name);
  RELISH_CHECK(callee != nullptr, global->name);
  return call_directly(callee, evaluate_all(call.args, frame), expr.span());
}

// The direct call of lowered modules: destinations are arguments like the others, and are written.
Value GraphEvaluator::call_directly(const PrimFuncPtr& callee, std::vector<Value> args, Span span) {
  if (args.size() != callee->params.size()) {
    fail(ErrorClass::Runtime, span, "call.arity",
         fmt::format("{} is given {}; it takes {}", callee->name, counted(args.size(), "argument"),
                     callee->params.size()));
  }
  return prepared(callee).run(args, ErrorClass::Runtime, span);
}

// The tensor of an argument for a prim_func that writes to it: itself where nobody else holds it and nothing
// looks at it again.
Tensor GraphEvaluator::own_tensor(const CallTir& call, std::size_t index, Value value, Activation& frame) {
  Tensor tensor = value.tensor();
  value = Value();
  const auto names = [&](const Expr& arg) {
    return arg.as_var() && *arg.as_var() == *call.args[index].as_var();
  };
  const Var* var = call.args[index].as_var();
  const bool dies = var && frame.dying &&
                    std::find(frame.dying->begin(), frame.dying->end(), var->id()) != frame.dying->end();
  if (dies && std::count_if(call.args.begin(), call.args.end(), names) == 1) frame.values.erase(var->id());
  return tensor.unique() ? tensor : tensor.copy();
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
      if (accesses[i].written && value.is_tensor()) value = own_tensor(call, index, std::move(value), frame);
      params.push_back(std::move(value));
    } else {
      const Type type = concrete_type(call.out_types[index], frame.symbols);
      results[index] = Tensor::zeros(*type.tensor()->dtype, concrete_shape(*type.tensor()));
      params.push_back(results[index]);
    }
  }
  prepared(callee).run(params, ErrorClass::Runtime, expr.span());
  // A result in place is the (copied) argument that the function wrote to.
  for (std::size_t i = 0; i < call.inplace_indices.size(); ++i) {
    if (call.inplace_indices[i] < 0) continue;
    for (std::size_t p = 0; p < layout.size(); ++p) {
      const bool taken = layout[p].kind == ParamSource::Argument &&
                         layout[p].index == static_cast<std::size_t>(call.inplace_indices[i]);
      if (taken) results[i] = params[p];
    }
  }
  return call.tuple_result ? Value::tuple(std::move(results)) : results.at(0);
}

// Functions outside the module, by symbol. Those of closures are the evaluator's own.
Value GraphEvaluator::evaluate_packed(const PackedCall& call, const Expr& expr, Activation& frame) {
  std::vector<Value> args = evaluate_all(call.args, frame);
  if (call.form == PackedForm::CallTirDyn && call.callee.as<GlobalRef>()) {
    const PrimFuncPtr prim = module_->prim_func(call.callee.as<GlobalRef>()->name);
    RELISH_CHECK(prim != nullptr, call.callee.as<GlobalRef>()->name);
    if (!args.empty() && args.back().is_shape()) {
      const ShapeValue shape = args.back().shape();
      args.pop_back();
      for (const std::int64_t dim : shape.dims) {
        const ScalarVar* param =
            args.size() < prim->params.size() ? prim->params[args.size()].scalar() : nullptr;
        args.emplace_back(ScalarValue::of_int(dim, param ? param->dtype() : DType::Int64));
      }
    }
    call_directly(prim, std::move(args), expr.span());
    return {};
  }
  const Value callee = evaluate(call.callee, frame);
  const bool closure = !callee.is_string();
  if (call.form == PackedForm::MakeClosure) {
    const auto* object = std::get_if<std::shared_ptr<const ObjectValue>>(&callee.kind());
    const auto* function = object ? dynamic_cast<const ClosureValue*>(object->get()) : nullptr;
    if (!function) {
      fail(ErrorClass::Runtime, expr.span(), "call.callee",
           fmt::format("R.make_closure is given {}; expected a function", describe(callee)));
    }
    auto made = std::make_shared<ClosureValue>(*function);
    made->given.insert(made->given.begin(), args.begin(), args.end());
    return Value(std::shared_ptr<const ObjectValue>(std::move(made)));
  }
  if (closure) return called(callee, std::move(args), expr, frame);
  const bool plain = call.form == PackedForm::Dps || call.form == PackedForm::Pure ||
                     call.form == PackedForm::Impure || call.form == PackedForm::Inplace ||
                     call.form == PackedForm::CallTirDyn;
  if (!plain && !machine_function(callee.string())) {
    refuse_machine_call(callee.string(), expr.span());
  }
  return call_native_function(callee.string(), call, std::move(args), expr, frame);
}

// A function of a library: destinations behind the arguments, or what it returns, or what it changed.
Value GraphEvaluator::call_native_function(const std::string& name, const PackedCall& call,
                                           std::vector<Value> args, const Expr& expr, Activation& frame) {
  // Before anything is allocated, and before the arguments are looked at.
  if (is_machine_call(call, name))
    return packed_result(name, machine_function(name)(name, args, expr.span()), expr.type(), frame.symbols,
                         expr.span());
  NativeFunctions::instance().find(name, expr.span());
  std::vector<Value> results;
  if (call.form == PackedForm::Dps) {
    for (const Type& out : call.out_types) {
      const DType dtype = *destination_type(out, expr.span()).dtype;
      const Type type = concrete_type(out, frame.symbols);
      results.push_back(Tensor::zeros(dtype, concrete_shape(*type.tensor())));
      args.push_back(results.back());
    }
  }
  const bool in_place = results_in_place(call, expr.span());
  std::vector<NativeArgument> given;
  for (std::size_t i = 0; i < args.size(); ++i) {
    // Values are immutable: the function changes a copy.
    if (is_changed_in_place(call, i) && args[i].is_tensor()) args[i] = args[i].tensor().copy();
    given.push_back(native_argument(args[i], name, i, expr.span()));
  }
  Value returned = call_native(name, given, expr.span());
  if (call.form == PackedForm::Dps)
    return call.tuple_result ? Value::tuple(std::move(results)) : results.at(0);
  if (in_place) {
    for (const std::int64_t index : call.inplace_indices)
      results.push_back(args.at(static_cast<std::size_t>(index)));
    returned = results.size() == 1 ? results[0] : Value::tuple(std::move(results));
  }
  return packed_result(name, std::move(returned), expr.type(), frame.symbols, expr.span());
}

}  // namespace relish::interp
