// call_tir in its three spellings, and its check against the prim_func.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/graph_builder.h"
#include "ir/call_layout.h"
#include "ir/printer.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

// The types of the results: a type or a list of them, or, as in 2022, a shape or a list of shapes and a
// dtype.
void GraphBuilder::read_out_types(const ast::Call& call, const ast::Expr* third, const ast::Expr* dtype,
                                  std::vector<Type>& types, bool& tuple_result) {
  if (!third) {
    type_error(call.callee->span, "call_tir.result",
               "R.call_tir is given no type of its result; expected out_ty=R.Tensor(shape, dtype)");
  }
  auto items_of = [](const ast::Expr& expr) -> const std::vector<ast::ExprPtr>* {
    if (auto* list = expr.as<ast::ListValue>()) return &list->items;
    if (auto* tuple = expr.as<ast::TupleValue>()) return &tuple->items;
    return nullptr;
  };
  const std::vector<ast::ExprPtr>* items = items_of(*third);
  if (types_.is_type(*third)) {
    Type type = types_.read(*third);
    if (const TupleType* fields = type.tuple()) {
      types = fields->fields;
      tuple_result = true;
    } else {
      types.push_back(type);
    }
  } else if (items && !items->empty() && types_.is_type(*items->front())) {
    for (const ast::ExprPtr& item : *items) types.push_back(types_.read(*item));
    tuple_result = types.size() != 1;  // a list of one is that one, as in TVM
  } else {
    // Shapes. Several when the items are shapes themselves.
    std::vector<const ast::Expr*> shapes{third};
    if (items && !items->empty() && items_of(*items->front())) {
      shapes.clear();
      for (const ast::ExprPtr& item : *items) shapes.push_back(item.get());
      tuple_result = shapes.size() != 1;
    }
    if (!dtype && (third->as<ast::Call>() || (items && !items->empty() && items->front()->as<ast::Call>()))) {
      // Meant as a type: what it lacks is told by its reader.
      types_.read(third->as<ast::Call>() ? *third : *items->front());
    }
    if (!dtype) {
      type_error(third->span, "call_tir.dtype",
                 "found a shape without dtype=; expected out_ty=R.Tensor(shape, dtype)");
    }
    const std::vector<ast::ExprPtr>* dtypes = items_of(*dtype);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const ast::Expr& one = dtypes && i < dtypes->size() ? *(*dtypes)[i] : *dtype;
      auto* text = one.as<ast::StringValue>();
      if (!text) type_error(one.span, "call_tir.dtype", "found a dtype that is no string");
      types.push_back(tensor_type(types_.read_dims(*shapes[i]), read_dtype(text->value, one.span)));
    }
    return;
  }
  if (dtype) type_error(dtype->span, "call_tir.dtype", "found dtype= beside a type; expected one of them");
  for (const Type& type : types) {
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->shape || !tensor->dtype) {
      type_error(
          third->span, "call_tir.result",
          fmt::format("found the result type {}; expected R.Tensor with shape and dtype", print(type)));
    }
  }
}

Expr GraphBuilder::call_tir(const ast::Expr& expr, const ast::Call& call) {
  std::vector<const ast::Expr*> positional;
  const ast::Expr* third = nullptr;
  const ast::Expr* dtype = nullptr;
  const ast::Expr* scalar_args = nullptr;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name.empty() && !argument.stars) {
      positional.push_back(argument.value.get());
    } else if (argument.name == "out_ty" || argument.name == "out_sinfo" || argument.name == "shape" ||
               argument.name == "output_shape") {
      third = argument.value.get();
    } else if (argument.name == "dtype") {
      dtype = argument.value.get();
    } else if (argument.name == "tir_vars") {
      scalar_args = argument.value.get();
    } else if (argument.name == "args") {
      positional.push_back(argument.value.get());
    } else {
      type_error(argument.stars ? argument.value->span : argument.name_span, "call_tir.argument",
                 fmt::format("R.call_tir has no argument '{}'{}", printable(argument.name),
                             did_you_mean(argument.name, std::vector<std::string>{"out_ty", "out_sinfo",
                                                                                  "dtype", "tir_vars"})));
    }
  }
  if (!third && positional.size() > 2) third = positional[2];
  if (positional.size() < 2 || positional.size() > 3) {
    type_error(expr.span, "call_tir.arguments",
               fmt::format("found {} positional arguments of R.call_tir; expected a prim_func, its arguments "
                           "and the type of "
                           "the result",
                           positional.size()));
  }
  const ast::Expr& callee = *positional[0];
  if (callee.as<ast::StringValue>()) {
    fail(ErrorClass::Policy, callee.span, "native.call",
         fmt::format("R.call_tir of {} calls a native function, which was not opted in",
                     ast::describe(callee)));
  }
  std::optional<std::string> global = module_member(callee);
  if (!global && ast::name_of(callee)) global = *ast::name_of(callee);
  std::optional<GlobalMeaning> meaning = global ? globals_.find_global(*global, callee.span) : std::nullopt;
  if (!meaning) {
    if (global && !look_up(*global)) unknown_name(*global, callee.span);
    type_error(callee.span, "call_tir.callee",
               fmt::format("found {} in R.call_tir; expected a prim_func", ast::describe(callee)));
  }
  if (!meaning->is_prim_func && meaning->reference.type().is_error()) throw ReadContext::Silent{};
  if (!meaning->is_prim_func) {
    type_error(
        callee.span, "call_tir.callee",
        fmt::format("found the Relax function '{}' in R.call_tir; expected a prim_func", printable(*global)));
  }

  std::vector<Expr> args;
  const ast::Expr& given = *positional[1];
  if (auto* tuple = given.as<ast::TupleValue>()) {
    for (const ast::ExprPtr& item : tuple->items) args.push_back(leaf(*item));
  } else if (auto* list = given.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) args.push_back(leaf(*item));
  } else {
    Expr single = leaf(given);
    if (const TupleType* fields = single.type().tuple()) {
      // A tuple of values is its fields, each taken out.
      auto* written = single.as<TupleExpr>();
      for (std::size_t i = 0; i < fields->fields.size(); ++i) {
        if (!written && !in_dataflow_) open_plain_block();
        args.push_back(written ? written->fields[i]
                               : builder_.emit(tuple_get(single, static_cast<int>(i), given.span)));
      }
    } else {
      args.push_back(single);
    }
  }
  if (scalar_args) {
    for (const Scalar& scalar : types_.read_dims(*scalar_args))
      args.push_back(scalar_value(scalar, scalar_args->span));
  }
  std::vector<Type> types;
  bool tuple_result = false;
  read_out_types(call, third, dtype, types, tuple_result);
  Expr result = relish::call_tir(meaning->reference, args, types, tuple_result, expr.span);
  bool silent = std::any_of(args.begin(), args.end(), [](const Expr& arg) { return arg.type().is_error(); });
  if (meaning->prim_func && !silent) {
    context_.attempt_typed(
        [&] { check_call_tir(*meaning->prim_func, *result.as<CallTir>(), expr.span, third->span); });
  }
  return result;
}

// What is known of arguments and results must not contradict the buffers of the prim_func.
void GraphBuilder::check_call_tir(const PrimFunc& function, const CallTir& call, Span span, Span types) {
  std::vector<ParamSource> layout = call_layout(function, call, span);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    bool result = layout[i].kind == ParamSource::Result;
    const Type& type = result ? call.out_types[layout[i].index] : call.args[layout[i].index].type();
    Span at = result || !call.args[layout[i].index].span().known() ? span : call.args[layout[i].index].span();
    if (!buffer) {
      DType wanted = function.params[i].scalar()->dtype();
      const ScalarType* scalar = type.as<ScalarType>();
      if (scalar && scalar->dtype != wanted && !(is_int(scalar->dtype) && is_int(wanted))) {
        fail(ErrorClass::Type, at, "call_tir.argument",
             fmt::format("a scalar of {} is given for '{}' of {}; expected {}", name_of(scalar->dtype),
                         function.params[i].name(), function.name, name_of(wanted)));
      }
      continue;
    }
    const TensorType* tensor = type.tensor();
    Type wanted = tensor_type(buffer->shape(), buffer->dtype());
    bool clash = !tensor && !type.as<AnyType>();
    if (tensor) {
      clash = (tensor->dtype && *tensor->dtype != buffer->dtype()) ||
              (tensor->rank >= 0 && tensor->rank != buffer->rank());
      if (!clash && tensor->shape) {
        for (std::size_t d = 0; d < tensor->shape->size(); ++d) {
          auto found = (*tensor->shape)[d].as_int(), expected = buffer->shape()[d].as_int();
          clash |= found && expected && *found != *expected;
        }
      }
    }
    if (clash) {
      std::vector<DiagnosticNote> notes{
          {buffer->span(), fmt::format("'{}' is declared here", buffer->name())}};
      // The given shape with the right dtype, or the right type where it can be said here.
      std::vector<ScalarVar> dims;
      collect_vars(wanted, dims);
      std::optional<Type> right;
      if (tensor && tensor->shape && tensor->rank == buffer->rank() && tensor->dtype != buffer->dtype())
        right = tensor_type(*tensor->shape, buffer->dtype());
      else if (dims.empty())
        right = wanted;
      if (result && call.out_types.size() == 1 && right) notes.push_back(write_here(types, print(*right)));
      fail(ErrorClass::Type, at, result ? "call_tir.result" : "call_tir.argument",
           fmt::format("{} of type {} is given for '{}' of {}; expected {}",
                       result ? "a result" : "an argument", print(type), buffer->name(), function.name,
                       print(wanted)),
           std::move(notes));
    }
  }
}

}  // namespace relish
