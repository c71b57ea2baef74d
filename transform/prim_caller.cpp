// Making the call.
#include "transform/prim_caller.h"

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/nodes/builder.h"
#include "ir/operators/user_gradient.h"
#include "transform/rebuild.h"

namespace relish {
namespace {

Expr literal_of(const ScalarValue& scalar, Span span) {
  if (scalar.dtype == DType::Bool) return scalar_value(bool_literal(scalar.integer != 0, span), span);
  if (is_float(scalar.dtype)) return scalar_value(float_literal(scalar.dtype, scalar.real, span), span);
  return scalar_value(int_literal(scalar.dtype, scalar.integer, span), span);
}

// Which parameters are results only, in the order of the parameters.
std::vector<bool> fresh_results(const PrimFunc& function) {
  std::vector<bool> fresh;
  const std::vector<ParamAccess> accesses = param_accesses(function);
  for (std::size_t i = 0; i < accesses.size(); ++i)
    fresh.push_back(function.params[i].buffer() && accesses[i].written && !accesses[i].read);
  return fresh;
}

// The function with what it reads before what it only writes; the name of it in the module.
std::string with_results_last(const PrimFunc& function, Module& module) {
  const std::vector<bool> fresh = fresh_results(function);
  if (std::is_sorted(fresh.begin(), fresh.end())) return function.name;
  PrimFunc moved = function;
  moved.params.clear();
  for (const bool last : {false, true})
    for (std::size_t i = 0; i < fresh.size(); ++i)
      if (fresh[i] == last) moved.params.push_back(function.params[i]);
  moved.name = module.fresh_name(function.name);
  moved.is_private = true;
  if (const FunctionPtr written = user_gradient(module, function.name)) {
    Function own = *written;
    own.name = module.fresh_name(written->name);
    own.is_private = true;
    own.attributes = with_attribute(std::move(own.attributes), gradient_attribute, Attribute(moved.name));
    module.set(std::make_shared<const Function>(std::move(own)));
  }
  const std::string name = moved.name;
  module.set(std::make_shared<const PrimFunc>(std::move(moved)));
  return name;
}

}  // namespace

PrimCaller caller_of(const Module& module, const PrimFunc& function, const std::vector<Value>& arguments,
                     const Value& result) {
  PrimCaller caller;
  caller.module = module;
  const Span span = function.span;
  const PrimFuncPtr callee = caller.module.prim_func(with_results_last(function, caller.module));
  caller.function = caller.module.fresh_name("call_" + function.name);
  const std::vector<ParamAccess> accesses = param_accesses(function);
  std::vector<Type> types;
  if (result.is_tuple()) {
    for (const Value& field : result.fields()) types.push_back(type_of(field));
  } else if (!result.is_void()) {
    types.push_back(type_of(result));
  }
  Function made;
  made.name = caller.function;
  made.span = span;
  CallTir call{.callee = global_ref(GlobalFunction(callee), span),
               .args = {},
               .out_types = std::move(types),
               .tuple_result = result.is_tuple()};
  FunctionBuilder builder;
  std::size_t next = 0;
  bool in_place = false;
  // Results come in the order of the parameters as they are written.
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const PrimParam& param = function.params[i];
    const bool written = param.buffer() && accesses[i].written;
    if (written && !accesses[i].read) {
      call.inplace_indices.push_back(-1);
      continue;
    }
    const Value& argument = arguments.at(next++);
    if (argument.is_scalar()) {
      call.args.push_back(literal_of(argument.scalar(), span));
      continue;
    }
    if (written) call.inplace_indices.push_back(static_cast<std::int64_t>(call.args.size()));
    in_place = in_place || written;
    made.params.emplace_back(builder.fresh_name(param.name()), type_of(argument), false, span);
    call.args.emplace_back(made.params.back());
    caller.arguments.push_back(argument);
  }
  if (!in_place) call.inplace_indices.clear();
  builder.set_origin(span);
  builder.begin_block(true);
  const Expr value = builder.emit(call_tir(std::move(call), span));
  builder.end_block();
  std::vector<Binding> bindings = builder.take_bindings();
  made.result_type = value.type();
  close_function(made, std::move(bindings), value);
  caller.module.set(std::make_shared<const Function>(std::move(made)));
  return caller;
}

}  // namespace relish
