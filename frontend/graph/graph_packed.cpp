// Calls of functions outside the module, and the calls of TVM's virtual machine: callee, arguments, the types
// of the results, further keywords.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/graph/graph_calls.h"
#include "frontend/types/attribute_reader.h"
#include "ir/printer/printer.h"
#include "support/counted.h"
#include "support/fix.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

// Arguments stand one by one, or in a tuple.
bool takes_tuple(PackedForm form) {
  return form == PackedForm::Dps || form == PackedForm::Builtin || form == PackedForm::MakeClosure ||
         form == PackedForm::InvokeClosure || form == PackedForm::InvokePureClosure ||
         form == PackedForm::CallTirDyn;
}

bool is_result_keyword(PackedForm form, const std::string& name) {
  if (form == PackedForm::MakeClosure || form == PackedForm::CallTirDyn) return false;
  if (form == PackedForm::Dps) return name == "out_ty" || name == "out_sinfo" || name == "shape";
  return name == "ty_args" || name == "sinfo_args" || name == "type_args";
}

}  // namespace

// A symbol, an R.ExternFunc, a function of the module, or a variable that holds a function.
Expr GraphCalls::packed_callee(const ast::Expr& callee, std::string_view name) {
  if (auto* text = callee.as<ast::StringValue>()) {
    if (text->value.empty())
      type_error(callee.span, "native.symbol", fmt::format("found an empty symbol in {}", name));
    return extern_func(text->value, callee.span);
  }
  Expr function = leaf(callee);
  const Type& type = function.type();
  if (!type.function() && !type.as<AnyType>() && !type.is_error()) {
    type_error(callee.span, "native.callee",
               fmt::format("found a value of type {} as the function of {}; expected a symbol or a function",
                           print(type), name));
  }
  return function;
}

Expr GraphCalls::checked_packed(PackedCall call, Span span) {
  return checked([&] { return relish::packed_call(call, span); }, span, call);
}

// One type, or a list: of several the value is a tuple. Void gives no entry.
std::vector<Type> GraphCalls::result_types(const ast::Expr& written) {
  std::vector<Type> types;
  const std::vector<ast::ExprPtr>* items = nullptr;
  if (auto* list = written.as<ast::ListValue>()) items = &list->items;
  if (auto* tuple = written.as<ast::TupleValue>()) items = &tuple->items;
  if (items) {
    for (const ast::ExprPtr& item : *items) types.push_back(types_.read(*item));
    if (types.size() > 1) types = {Type(TupleType{std::move(types)})};
  } else {
    types.push_back(types_.read(written));
  }
  if (types.size() == 1 && types[0].is_void()) types.clear();
  return types;
}

// R.vm.call_tir_dyn as the direct call that it is: a shape behind the arguments gives its dims one by one. A
// shape whose dims are known only at run time is checked then.
void GraphCalls::check_dynamic_call(PackedCall& call, Span span) {
  // A shape may be written as a tuple of dimensions.
  if (const auto* dims = call.args.empty() ? nullptr : call.args.back().as<TupleExpr>()) {
    std::vector<Scalar> shape;
    for (const Expr& dim : dims->fields) {
      const auto* scalar = dim.as<ScalarValueExpr>();
      if (!scalar) return;
      shape.push_back(scalar->value);
    }
    call.args.back() = shape_literal(std::move(shape), call.args.back().span());
  }
  const auto* global = call.callee.as<GlobalRef>();
  if (call.callee.as<ExternFunc>() || call.callee.type().is_error()) return;
  const auto meaning = global ? globals_.find_global(global->name, span) : std::nullopt;
  if (!meaning || !meaning->is_prim_func) {
    type_error(call.callee.span(), "native.callee",
               "found no prim_func as the function of R.vm.call_tir_dyn; expected one of the module");
  }
  std::vector<Expr> args = call.args;
  if (const auto* shape = args.empty() ? nullptr : args.back().type().as<ShapeType>()) {
    if (!shape->dims) return;
    args.pop_back();
    for (const Scalar& dim : *shape->dims) args.push_back(scalar_value(dim, span));
  }
  if (meaning->prim_func && args.size() != meaning->prim_func->params.size()) {
    type_error(span, "call.prim_func",
               fmt::format("found {} argument{} for the prim_func {}, the dims of the shape among them; "
                           "expected its {}",
                           args.size(), args.size() == 1 ? "" : "s", printable(global->name),
                           meaning->prim_func->params.size()));
  }
}

// The functions of TVM's virtual machine that call functions of the module are the forms of their own names.
std::optional<PackedForm> GraphCalls::machine_form(const Expr& callee) {
  const auto* external = callee.as<ExternFunc>();
  if (!external) return std::nullopt;
  if (external->symbol == "vm.builtin.make_closure") return PackedForm::MakeClosure;
  if (external->symbol == "vm.builtin.invoke_closure") return PackedForm::InvokeClosure;
  if (external->symbol == "vm.builtin.call_tir_dyn") return PackedForm::CallTirDyn;
  return std::nullopt;
}

// R.call_packed("vm.builtin.invoke_closure", f, x, …) and R.call_builtin_with_ctx of a tuple (f, x, …).
Expr GraphCalls::machine_call(PackedForm form, const std::string& name, const ast::Expr& expr,
                              const std::vector<const ast::Expr*>& positional, const ast::Expr* results) {
  std::vector<Expr> args;
  for (std::size_t i = 1; i < positional.size(); ++i) {
    const auto* listed = name == "R.call_builtin_with_ctx" ? positional[i]->as<ast::TupleValue>() : nullptr;
    if (listed) {
      for (const ast::ExprPtr& item : listed->items) args.push_back(leaf(*item));
    } else {
      args.push_back(leaf(*positional[i]));
    }
  }
  const FunctionType* function = args.empty() ? nullptr : args[0].type().function();
  if (args.empty() || (!function && !args[0].type().as<AnyType>() && !args[0].type().is_error())) {
    type_error(positional[0]->span, "native.callee",
               fmt::format("found {} as the function of {}; expected a function of the module or a closure",
                           args.empty() ? "nothing" : print(args[0].type()),
                           positional[0]->as<ast::StringValue>()->value));
  }
  PackedCall made{form, args[0], {args.begin() + 1, args.end()}, {}, false, {}, {}};
  if (form == PackedForm::MakeClosure) {
    made.out_types = {Type()};
  } else if (form == PackedForm::CallTirDyn) {
    check_dynamic_call(made, expr.span);
  } else if (results) {
    made.out_types = result_types(*results);
  }
  return checked_packed(std::move(made), expr.span);
}

Expr GraphCalls::packed_call(PackedForm form, const std::string& name, const ast::Expr& expr,
                             const ast::Call& call) {
  std::vector<const ast::Expr*> positional;
  const ast::Expr *results = nullptr, *dtype = nullptr, *indices = nullptr;
  PackedCall made{form, {}, {}, {}, false, {}, {}};
  for (const ast::Argument& argument : call.arguments) {
    const ast::Expr* value = argument.value.get();
    if (argument.stars)
      type_error(value->span, "call.star", "found a starred argument; expected each one written out");
    if (argument.name.empty() || argument.name == "func" || (takes_tuple(form) && argument.name == "args")) {
      positional.push_back(value);
    } else if (is_result_keyword(form, argument.name)) {
      results = value;
    } else if (form == PackedForm::Dps && argument.name == "dtype") {
      dtype = value;
    } else if (form == PackedForm::Inplace && argument.name == "inplace_indices") {
      indices = value;
    } else if (form == PackedForm::Impure || form == PackedForm::Pure || form == PackedForm::Inplace) {
      made.attributes = with_attribute(std::move(made.attributes), argument.name, attribute_argument(*value));
    } else {
      std::vector<std::string> known{form == PackedForm::Dps ? "out_ty" : "ty_args", "args"};
      type_error(argument.name_span, "native.argument",
                 fmt::format("{} has no argument '{}'{}", name, printable(argument.name),
                             did_you_mean(argument.name, known)));
    }
  }
  if (positional.empty())
    type_error(expr.span, "native.callee", fmt::format("{} is given no function", name));
  made.callee = packed_callee(*positional[0], name);
  if (const auto machine = machine_form(made.callee))
    return machine_call(*machine, name, expr, positional, results);
  if (takes_tuple(form)) {
    if (positional.size() > 2 && !results && form != PackedForm::MakeClosure &&
        form != PackedForm::CallTirDyn) {
      results = positional[2];
      positional.erase(positional.begin() + 2);
    }
    if (positional.size() != 2) {
      type_error(expr.span, "native.arguments",
                 fmt::format("found {} of {}; expected a function and a tuple of its "
                             "arguments",
                             counted(positional.size(), "positional argument"), name));
    }
    made.args = argument_tuple(*positional[1]);
  } else {
    for (std::size_t i = 1; i < positional.size(); ++i) made.args.push_back(leaf(*positional[i]));
  }
  if (form == PackedForm::MakeClosure) {
    if (const FunctionType* function = made.callee.type().function(); function && !function->opaque) {
      if (made.args.size() > function->params.size()) {
        type_error(expr.span, "closure.arguments",
                   fmt::format("found {} arguments for a closure of a function of {}", made.args.size(),
                               function->params.size()));
      }
    }
    // What is left of the function's parameters is not followed: a value of any type.
    made.out_types = {Type()};
    return checked_packed(std::move(made), expr.span);
  }
  if (form == PackedForm::CallTirDyn) {
    check_dynamic_call(made, expr.span);
    return checked_packed(std::move(made), expr.span);
  }
  if (form == PackedForm::Dps) {
    read_out_types(call, results, dtype, made.out_types, made.tuple_result);
  } else if (results) {
    made.out_types = result_types(*results);
  } else if (form == PackedForm::Pure || form == PackedForm::Inplace ||
             form == PackedForm::InvokePureClosure) {
    type_error(
        call.callee->span, "native.result",
        fmt::format("{} is given no type of its result; expected ty_args=R.Tensor(shape, dtype)", name));
  }
  if (form == PackedForm::Inplace) {
    if (!indices) {
      // Other arguments are attributes: one of them may be this one, misspelt.
      static const std::vector<std::string> wanted = {"inplace_indices"};
      std::vector<DiagnosticNote> notes;
      for (const ast::Argument& argument : call.arguments) {
        if (notes.empty() && !argument.name.empty())
          notes = write_nearest(argument.name_span, argument.name, wanted);
      }
      fail(ErrorClass::Type, expr.span, "inplace.indices",
           "R.call_inplace_packed is given no inplace_indices", std::move(notes));
    }
    const TupleType* fields = made.out_types.size() == 1 ? made.out_types[0].tuple() : nullptr;
    made.inplace_indices =
        inplace_indices(*indices, made.args.size(), fields ? fields->fields.size() : made.out_types.size());
  }
  return checked_packed(std::move(made), expr.span);
}

}  // namespace relish
