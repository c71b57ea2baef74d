// call_tir in its spellings of all years, in place and with a gradient, and its check against the prim_func.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "frontend/graph/graph_calls.h"
#include "frontend/types/attribute_reader.h"
#include "ir/calls/call_layout.h"
#include "ir/printer/printer.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {

// The types of the results: a type or a list of them, or, as in 2022, a shape or a list of shapes and a
// dtype.
void GraphCalls::read_out_types(const ast::Call& call, const ast::Expr* third, const ast::Expr* dtype,
                                std::vector<Type>& types, bool& tuple_result) {
  if (!third) {
    type_error(call.callee->span, "call_tir.result",
               fmt::format("{} is given no type of its result; expected out_ty=R.Tensor(shape, dtype)",
                           ast::dotted_name(*call.callee)));
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
      if (!text)
        type_error(one.span, "call_tir.dtype",
                   fmt::format("found {}; expected a dtype such as \"float32\"", ast::describe(one)));
      types.push_back(tensor_type(types_.read_dims(*shapes[i]), read_dtype(text->value, one.span)));
    }
    return;
  }
  if (dtype) type_error(dtype->span, "call_tir.dtype", "found dtype= beside a type; expected one of them");
  for (const Type& type : types) {
    const TensorType* tensor = type.tensor();
    if (!tensor || !tensor->shape) {
      type_error(
          third->span, "call_tir.result",
          fmt::format("found the result type {}; expected R.Tensor with shape and dtype", print(type)));
    }
  }
}

// A result without a dtype has that of its buffer, which stands among the last ones of the prim_func.
void GraphCalls::take_dtypes(std::vector<Type>& types, const PrimFunc& function) const {
  std::vector<DType> dtypes;
  for (const PrimParam& param : function.params)
    if (const Buffer* buffer = param.buffer()) dtypes.push_back(buffer->dtype());
  if (dtypes.size() < types.size()) return;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TensorType& tensor = *types[i].tensor();
    if (tensor.dtype) continue;
    types[i] =
        TensorType{dtypes[dtypes.size() - types.size() + i], tensor.shape, tensor.rank, tensor.vdevice};
  }
}

// The values that one argument gives: a tuple or list of them, a value alone, or a variable that is a tuple.
std::vector<Expr> GraphCalls::argument_tuple(const ast::Expr& given) {
  std::vector<Expr> args;
  if (auto* tuple = given.as<ast::TupleValue>()) {
    add_items(tuple->items, args);
    return args;
  }
  if (auto* list = given.as<ast::ListValue>()) {
    add_items(list->items, args);
    return args;
  }
  Expr single = leaf(given);
  if (!single.type().tuple()) return {single};
  return fields_of(single, given.span);
}

std::vector<std::int64_t> GraphCalls::inplace_indices(const ast::Expr& written, std::size_t args,
                                                      std::size_t results) {
  Attribute value = read_attribute(context_, written);
  auto* list = value.as<AttributeList>();
  bool integers = value.as<std::int64_t>() ||
                  (list && std::all_of(list->begin(), list->end(),
                                       [](const Attribute& item) { return item.as<std::int64_t>(); }));
  if (!integers) {
    type_error(written.span, "inplace.indices",
               fmt::format("found {} as indices; expected a list of integers", ast::describe(written)));
  }
  std::vector<std::int64_t> indices = int_list(value);
  if (indices.size() != results) {
    type_error(written.span, "inplace.indices",
               fmt::format("found {} for {}; expected one each, -1 for a fresh one",
                           counted(indices.size(), "index", "indices"), counted(results, "result")));
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < -1 || indices[i] >= static_cast<std::int64_t>(args)) {
      std::vector<DiagnosticNote> notes;
      if (args == 1 && results == 1) notes.push_back(write_here(written.span, "[0]"));
      fail(ErrorClass::Type, written.span, "inplace.indices",
           fmt::format("found the index {} of {} argument{}; expected -1 to {}", indices[i], args,
                       args == 1 ? "" : "s", static_cast<std::int64_t>(args) - 1),
           std::move(notes));
    }
    if (indices[i] >= 0 && std::count(indices.begin(), indices.end(), indices[i]) > 1) {
      type_error(written.span, "inplace.indices",
                 fmt::format("found the argument {} for two results; expected each once", indices[i]));
    }
  }
  if (!indices.empty() && std::all_of(indices.begin(), indices.end(), [](auto index) { return index < 0; })) {
    type_error(written.span, "inplace.indices",
               "found no result in the place of an argument; expected the index of one, or R.call_tir");
  }
  return indices;
}

// A keyword of a call that is known when the text is read.
Attribute GraphCalls::attribute_argument(const ast::Expr& value) { return read_attribute(context_, value); }

// A string, or several in a list or tuple.
static bool is_dtypes(const ast::Expr& expr) {
  auto* tuple = expr.as<ast::TupleValue>();
  auto* list = expr.as<ast::ListValue>();
  if (!tuple && !list) return expr.as<ast::StringValue>();
  const std::vector<ast::ExprPtr>& items = tuple ? tuple->items : list->items;
  return !items.empty() && std::all_of(items.begin(), items.end(),
                                       [](const ast::ExprPtr& item) { return item->as<ast::StringValue>(); });
}

namespace {

// The arguments of R.call_tir, R.call_tir_inplace and R.call_tir_with_grad as written; null for those not
// given.
struct CallTirText {
  bool in_place, with_gradient;
  const ast::Expr* callee = nullptr;
  const ast::Expr* args = nullptr;
  const ast::Expr* result = nullptr;  // types, or shapes with `dtype`
  const ast::Expr* dtype = nullptr;
  const ast::Expr* scalar_args = nullptr;
  const ast::Expr* indices = nullptr;
  const ast::Expr* gradient = nullptr;
  const ast::Expr* gradient_args = nullptr;
};

// Where an argument of that name goes; null when the call has none.
const ast::Expr** call_tir_slot(CallTirText& text, std::string_view name) {
  if (name == "out_ty" || name == "out_sinfo" || name == "shape" || name == "output_shape")
    return &text.result;
  if (name == "gvar" || name == "func") return &text.callee;
  if (name == "args") return &text.args;
  if (name == "dtype" && !text.in_place && !text.with_gradient) return &text.dtype;
  if (name == "tir_vars") return &text.scalar_args;
  if (name == "inplace_indices" && text.in_place) return &text.indices;
  if (name == "te_grad_name" && text.with_gradient) return &text.gradient;
  if (name == "te_grad_kwargs" && text.with_gradient) return &text.gradient_args;
  return nullptr;
}

[[noreturn]] void refuse_call_tir_argument(const CallTirText& text, const std::string& name,
                                           const ast::Argument& argument) {
  std::vector<std::string> known{"args", "out_ty", "out_sinfo", "dtype", "tir_vars"};
  if (text.in_place) known.emplace_back("inplace_indices");
  if (text.with_gradient) known.insert(known.end(), {"te_grad_name", "te_grad_kwargs"});
  type_error(argument.stars ? argument.value->span : argument.name_span, "call_tir.argument",
             fmt::format("{} has no argument '{}'{}", name, printable(argument.name),
                         did_you_mean(argument.name, known)));
}

CallTirText call_tir_text(const std::string& name, const ast::Expr& expr, const ast::Call& call) {
  CallTirText text{.in_place = name == "R.call_tir_inplace", .with_gradient = name == "R.call_tir_with_grad"};
  std::vector<const ast::Expr*> positional;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.name.empty() && !argument.stars) {
      positional.push_back(argument.value.get());
    } else if (const ast::Expr** slot = call_tir_slot(text, argument.name)) {
      *slot = argument.value.get();
    } else {
      refuse_call_tir_argument(text, name, argument);
    }
  }
  std::size_t next = 0;
  std::vector<const ast::Expr**> order{&text.callee, &text.args};
  if (text.in_place) order.push_back(&text.indices);
  order.push_back(&text.result);
  if (name == "R.call_tir") {
    // In 2022 the dtypes stood behind the shapes.
    const std::size_t behind = order.size();
    if (!text.dtype && behind < positional.size() && is_dtypes(*positional[behind]))
      order.push_back(&text.dtype);
    order.push_back(&text.scalar_args);
  }
  for (const ast::Expr** slot : order) {
    if (!*slot && next < positional.size()) *slot = positional[next++];
  }
  if (!text.callee || !text.args || next < positional.size()) {
    type_error(expr.span, "call_tir.arguments",
               fmt::format("found {} of {}; expected a prim_func, its arguments{} and the "
                           "type of the result",
                           counted(positional.size(), "positional argument"), name,
                           text.in_place ? ", inplace_indices" : ""));
  }
  return text;
}

// Results that take the place of arguments have types that fit them.
void check_inplace_types(const CallTir& call, const std::vector<Expr>& args, Span types) {
  for (std::size_t i = 0; i < call.out_types.size(); ++i) {
    if (call.inplace_indices[i] < 0) continue;
    const Expr& arg = args[static_cast<std::size_t>(call.inplace_indices[i])];
    const bool open = arg.type().as<AnyType>() != nullptr;
    if (arg.type().is_error() || (!open && fits(arg.type(), call.out_types[i]) != Fit::Never)) continue;
    type_error(types, "inplace.type",
               fmt::format("found a result of type {} in the place of argument {}, which has type {}",
                           print(call.out_types[i]), call.inplace_indices[i], print(arg.type())));
  }
}

void read_call_tir_gradient(ReadContext& context, const CallTirText& text, Span at, CallTir& call) {
  auto* name = text.gradient ? text.gradient->as<ast::StringValue>() : nullptr;
  if (!name || name->value.empty()) {
    type_error(text.gradient ? text.gradient->span : at, "call_tir.gradient",
               "R.call_tir_with_grad is given no te_grad_name");
  }
  call.gradient_name = name->value;
  if (!text.gradient_args || text.gradient_args->as<ast::NoneValue>()) return;
  Attribute value = read_attribute(context, *text.gradient_args);
  if (!value.as<Attributes>())
    type_error(
        text.gradient_args->span, "call_tir.gradient",
        fmt::format("found {} as te_grad_kwargs; expected a dictionary", ast::describe(*text.gradient_args)));
  call.gradient_arguments = *value.as<Attributes>();
}

}  // namespace

// The prim_func that is called; nothing for a native function.
std::optional<GlobalMeaning> GraphCalls::call_tir_callee(const std::string& name, const ast::Expr& callee,
                                                         bool native_allowed) {
  std::optional<std::string> global = module_member(callee);
  if (!global && ast::name_of(callee)) global = *ast::name_of(callee);
  std::optional<GlobalMeaning> meaning = global && !(ast::name_of(callee) && look_up(*global))
                                             ? globals_.find_global(*global, callee.span)
                                             : std::nullopt;
  // The form of 2022: a native function by its symbol.
  auto* maker = callee.as<ast::Call>();
  const bool native = callee.as<ast::StringValue>() || (meaning && meaning->is_extern) ||
                      (maker && context_.namespaces.canonical(*maker->callee) == "R.ExternFunc");
  if (native && !native_allowed) {
    type_error(callee.span, "call_tir.callee",
               fmt::format("found a native function in {}; expected a prim_func", name));
  }
  if (native) return std::nullopt;
  if (!meaning) {
    if (global && !look_up(*global)) unknown_name(*global, callee.span);
    type_error(callee.span, "call_tir.callee",
               fmt::format("found {} in {}; expected a prim_func", ast::describe(callee), name));
  }
  if (!meaning->is_prim_func && meaning->reference.type().is_error()) throw ReadContext::Silent{};
  if (!meaning->is_prim_func) {
    type_error(
        callee.span, "call_tir.callee",
        fmt::format("found the Relax function '{}' in {}; expected a prim_func", printable(*global), name));
  }
  return meaning;
}

// R.call_tir, R.call_tir_inplace (indices before the type) and R.call_tir_with_grad.
Expr GraphCalls::call_tir(const std::string& name, const ast::Expr& expr, const ast::Call& call) {
  const CallTirText text = call_tir_text(name, expr, call);
  const auto meaning = call_tir_callee(name, *text.callee, !text.in_place && !text.with_gradient);
  std::vector<Expr> args = argument_tuple(*text.args);
  if (text.scalar_args) {
    auto* tuple = text.scalar_args->as<ast::Call>();
    const ast::Expr& dims =
        tuple && tuple->arguments.size() == 1 ? *tuple->arguments[0].value : *text.scalar_args;
    for (const Scalar& scalar : types_.read_dims(dims))
      args.push_back(scalar_value(scalar, text.scalar_args->span));
  }
  std::vector<Type> types;
  bool tuple_result = false;
  read_out_types(call, text.result, text.dtype, types, tuple_result);
  if (!meaning) {
    return checked_packed({PackedForm::Dps,
                           packed_callee(*text.callee, name),
                           std::move(args),
                           std::move(types),
                           tuple_result,
                           {},
                           {}},
                          expr.span);
  }
  const Span written = text.result->span;
  if (meaning->prim_func && !text.in_place) take_dtypes(types, *meaning->prim_func);
  for (const Type& type : types) {
    if (type.tensor()->dtype) continue;
    type_error(written, "call_tir.result",
               fmt::format("found the result type {}; expected R.Tensor with shape and dtype", print(type)));
  }
  CallTir made{meaning->reference, args, std::move(types), tuple_result, {}, {}, {}};
  if (text.in_place) {
    if (!text.indices)
      type_error(expr.span, "inplace.indices", "R.call_tir_inplace is given no inplace_indices");
    made.inplace_indices = inplace_indices(*text.indices, args.size(), made.out_types.size());
    check_inplace_types(made, args, written);
  }
  if (text.with_gradient) read_call_tir_gradient(context_, text, expr.span, made);
  Expr result = relish::call_tir(std::move(made), expr.span);
  bool silent = std::any_of(args.begin(), args.end(), [](const Expr& arg) { return arg.type().is_error(); });
  if (meaning->prim_func && !silent) {
    context_.attempt_typed(
        [&] { check_call_tir(*meaning->prim_func, *result.as<CallTir>(), expr.span, written); });
  }
  return result;
}

// What is known of arguments and results must not contradict the buffers of the prim_func.
void GraphCalls::check_call_tir(const PrimFunc& function, const CallTir& call, Span span, Span types) {
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
    if (buffer->is_pointer() && buffer->rank() == 0) continue;  // to what nobody says
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
  check_call_tir_sizes(function, call, layout, span);
}

// The sizes of the prim_func that the arguments tell must fit all buffers, those of results too.
void GraphCalls::check_call_tir_sizes(const PrimFunc& function, const CallTir& call,
                                      const std::vector<ParamSource>& layout, Span span) {
  struct Told {
    Scalar value;  // a number, or what the function that calls knows of it
    std::string by;
  };
  std::map<std::uint64_t, Told> told;
  const auto type_of_param = [&](std::size_t i) -> const Type& {
    const std::size_t index = layout[i].index;
    return layout[i].kind == ParamSource::Result ? call.out_types[index] : call.args[index].type();
  };
  // The type with sizes for those of the buffer; null for one of another rank, as at a handle that nothing
  // matches.
  const auto sized_type = [&](std::size_t i, const Buffer& buffer) -> const TensorType* {
    const TensorType* tensor = type_of_param(i).tensor();
    const bool sized = tensor && tensor->shape && tensor->shape->size() == buffer.shape().size();
    return sized ? tensor : nullptr;
  };
  // Bare sizes, in the order of the parameters; a scalar is told by a plain number or a size.
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (const ScalarVar* scalar = function.params[i].scalar()) {
      const auto known =
          layout[i].kind == ParamSource::Result ? std::nullopt : known_scalar(call.args[layout[i].index]);
      if (known && is_int(known->dtype())) told.emplace(scalar->id(), Told{*known, scalar->name()});
      continue;
    }
    const Buffer& buffer = *function.params[i].buffer();
    const TensorType* tensor = sized_type(i, buffer);
    for (std::size_t d = 0; tensor && d < tensor->shape->size(); ++d) {
      if (const auto var = buffer.shape()[d].as_var())
        told.emplace(var->id(), Told{(*tensor->shape)[d], buffer.name()});
    }
  }
  // What the told sizes make of a size; nothing when they do not tell it all.
  const auto told_size = [&](const Scalar& size, std::string& by) -> std::optional<Scalar> {
    std::vector<ScalarVar> vars;
    collect_vars(size, vars);
    ScalarMap values;
    bool numbers = true, wide = true;
    for (const ScalarVar& var : vars) {
      const auto known = told.find(var.id());
      if (known == told.end()) return std::nullopt;
      const Scalar& value = known->second.value;
      by +=
          fmt::format("{}{} is {} by {}", by.empty() ? "" : ", ", var.name(), print(value), known->second.by);
      numbers &= value.as_int().has_value();
      wide &= var.dtype() == DType::Int64;
      values.emplace(var.id(), value);
    }
    if (size.as_var()) return values.begin()->second;
    if (!numbers) return wide ? std::optional(canonical(substitute(size, values))) : std::nullopt;
    try {
      const auto number =
          evaluate_int(size, [&](const ScalarVar& var) { return values.at(var.id()).as_int(); });
      return number ? std::optional(int_literal(DType::Int64, *number)) : std::nullopt;
    } catch (const Failure&) {
      return std::nullopt;  // a division by zero is told when it runs
    }
  };
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Buffer* buffer = function.params[i].buffer();
    const TensorType* tensor = buffer ? sized_type(i, *buffer) : nullptr;
    for (std::size_t d = 0; tensor && d < tensor->shape->size(); ++d) {
      const Scalar& found = (*tensor->shape)[d];
      std::string by;
      const std::optional<Scalar> wanted = told_size(buffer->shape()[d], by);
      if (!wanted || !prove_different(found, *wanted)) continue;
      const bool result = layout[i].kind == ParamSource::Result;
      const Span own = result ? span : call.args[layout[i].index].span();
      std::vector<DiagnosticNote> notes;
      if (by.empty())
        notes.push_back({buffer->span(), fmt::format("'{}' is declared here", buffer->name())});
      else
        notes.push_back({buffer->span(), fmt::format("it is {}; {}", print(buffer->shape()[d]), by)});
      fail(ErrorClass::Type, own.known() ? own : span, result ? "call_tir.result" : "call_tir.argument",
           fmt::format("dimension {} of '{}' of {} is {}; expected {}", d, buffer->name(), function.name,
                       print(found), print(*wanted)),
           std::move(notes));
    }
  }
}

}  // namespace relish
