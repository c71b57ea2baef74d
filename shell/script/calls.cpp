// Calls in scripts: functions of modules and of the script, operators, built-ins, commands, methods.
#include <algorithm>

#include "frontend/module/script_checks.h"
#include "frontend/names/foreign_texts.h"
#include "ir/operators/giving.h"
#include "shell/foreign_members.h"
#include "shell/program/program_file.h"
#include "shell/script/builtins.h"
#include "shell/script/convert.h"
#include "shell/script/function_arguments.h"
#include "shell/script/methods.h"
#include "shell/script/named_trees.h"
#include "shell/script/script_calls.h"
#include "shell/script/unfinished_modules.h"
#include "stdlib/places_of_names.h"
#include "support/fix.h"
#include "support/interrupt.h"
#include "support/render.h"
#include "train/program.h"

namespace relish {
namespace {

// Values that the namespace R makes without an operator.
ScriptValue relax_value(std::string_view name, CallArguments& arguments, bool& known) {
  known = std::find(std::begin(relax_values), std::end(relax_values), name) != std::end(relax_values);
  if (!known) return {};
  if (name == "const") {
    const NamedValue& value = arguments.required("value");
    const NamedValue* dtype = arguments.optional("dtype");
    arguments.done();
    std::optional<DType> wanted;
    if (dtype && !dtype->value.is_none()) wanted = dtype_of_value(dtype->value, dtype->span);
    return tensor_of(value.value, wanted, DType::Int32, DType::Float32, value.span);
  }
  if (name == "shape" || name == "ShapeExpr") {
    const NamedValue& dims = arguments.required("dims");
    arguments.done();
    return ShapeValue{shape_of(dims.value, dims.span, true)};
  }
  if (name == "tuple") {
    std::vector<ScriptValue> items;
    for (NamedValue& item : arguments.rest()) items.push_back(std::move(item.value));
    arguments.done();
    return ScriptValue::tuple(std::move(items));
  }
  if (name == "dtype") {
    const NamedValue& dtype = arguments.required("dtype");
    arguments.done();
    return std::string(name_of(dtype_of_value(dtype.value, dtype.span)));
  }
  if (name == "str" || name == "prim_value") {
    const NamedValue& value = arguments.required("value");
    arguments.done();
    bool fits = name == "str" ? value.value.string() != nullptr : value.value.is_number();
    if (!fits) {
      fail(ErrorClass::Type, value.span, "call.argument",
           fmt::format("R.{}: found {}; expected a {}", name, describe(value.value),
                       name == "str" ? "str" : "number"));
    }
    return value.value;
  }
  arguments.done();  // null_value
  return {};
}

void check_callable(const ScriptValue& value, const ast::Expr& callee) {
  if (value.script_function() || value.as<FunctionReference>() ||
      value.as<std::shared_ptr<const ObjectValue>>())
    return;
  const std::string* name = ast::name_of(callee);
  const auto* module = value.as<ModulePtr>();
  std::string advice = name && module ? foreign_member_advice(**module, *name, "__call__") : "";
  // What gradient gives is called for the gradients.
  if (name && module) {
    for (const std::string& member : (*module)->names())
      if (member.ends_with("_adjoint")) advice = fmt::format("; here it is {}.{}", *name, member);
  }
  fail(ErrorClass::Type, callee.span, "call.callee",
       name ? fmt::format("'{}' is {}; expected a function{}", *name, describe(value), advice)
            : fmt::format("found {}; expected a function", describe(value)));
}

// Of the list or dict that a method changes: the levels of nesting that it will have at least.
std::uint32_t levels_behind(std::string_view method, const std::vector<NamedValue>& arguments) {
  std::uint32_t levels = 1;
  for (const NamedValue& argument : arguments) {
    const bool spread = argument.name.empty() && (method == "extend" || method == "update");
    levels = std::max(levels, nesting_of(argument.value) + (spread ? 0 : 1));
  }
  return levels;
}

}  // namespace

std::vector<ScriptValue> ScriptValues::values_of_items(const std::vector<ast::ExprPtr>& items) {
  std::vector<ScriptValue> result;
  result.reserve(items.size());
  for (const ast::ExprPtr& item : items) {
    auto* starred = item->as<ast::Starred>();
    if (!starred) {
      result.push_back(value_of(*item));
      continue;
    }
    const ScriptValue value = value_of(*starred->value);
    if (const auto* range = value.as<ScriptRange>()) check_item_count(range->size(), item->span);
    for_each_item(value, item->span, [&](const ScriptValue& inner) {
      result.push_back(inner);
      return true;
    });
  }
  return result;
}

std::vector<NamedValue> ScriptCalls::arguments_of(const ast::Call& call) {
  std::vector<NamedValue> result;
  result.reserve(call.arguments.size());
  for (const ast::Argument& argument : call.arguments) {
    ScriptValue value = value_of(*argument.value);
    Span span = argument.value->span;
    if (argument.stars == 1) {
      if (const auto* range = value.as<ScriptRange>()) check_item_count(range->size(), span);
      for_each_item(value, span, [&](const ScriptValue& item) {
        result.push_back({"", item, span});
        return true;
      });
    } else if (argument.stars == 2) {
      const ScriptDict* dict = value.dictionary();
      if (!dict)
        fail(ErrorClass::Type, span, "call.arguments",
             fmt::format("'**' takes a dict, found {}", describe(value)));
      for (const auto& [key, item] : dict->items) {
        if (!key.string()) {
          fail(ErrorClass::Type, span, "call.arguments",
               fmt::format("found the key {}; expected names", brief_text(key)));
        }
        result.push_back({*key.string(), item, span});
      }
    } else {
      if (argument.name.empty() && !result.empty() && !result.back().name.empty()) {
        fail(ErrorClass::Syntax, span, "call.arguments", "found a positional argument behind a named one");
      }
      result.push_back({argument.name, std::move(value), span});
    }
  }
  return result;
}

// help(gradient) and doc(R.nn.relu) are of the name, as help("gradient") is, where it is bound to nothing.
std::vector<NamedValue> ScriptCalls::names_of(const ast::Call& call) {
  if (call.arguments.size() == 1 && call.arguments[0].stars == 0 && call.arguments[0].name.empty()) {
    const ast::Expr& argument = *call.arguments[0].value;
    const std::string name = ast::dotted_name(argument);
    if (!name.empty() && !names().find(name.substr(0, name.find('.'))))
      return {{"", ScriptValue(name), argument.span}};
  }
  return arguments_of(call);
}

namespace {

// As the first of its arguments, in brackets of its own.
bool has_generator(const ast::Call& call) {
  return !call.arguments.empty() && call.arguments[0].value->as<ast::Comprehension>() &&
         written_at(call.arguments[0].value->span).starts_with('(');
}

// The generator that a call has as its only argument (ExprConverter::generator).
const ast::Comprehension* generator_of(const ast::Call& call) {
  return call.arguments.size() == 1 && has_generator(call) ? call.arguments[0].value->as<ast::Comprehension>()
                                                           : nullptr;
}

// A function that a script calls sum might go through it twice, which a generator does not give.
[[noreturn]] void refuse_generator(const ast::Call& call) {
  fail(ErrorClass::Type, call.arguments[0].value->span, "script.unsupported",
       refusal_of(ast::Unsupported{"a generator"}));
}

}  // namespace

ScriptValue ScriptCalls::value_of_call(const ast::Call& call, Span span) {
  const bool of_state = call.callee.get() == state_of_.first;
  if (const auto* name = of_state ? nullptr : call.callee->as<ast::Name>()) {
    if (const ScriptValue* value = variable(*name)) {
      const ScriptValue kept = *value;
      check_callable(kept, *call.callee);
      if (has_generator(call)) refuse_generator(call);
      if (const auto* function = kept.as<FunctionReference>()) return call_of_module(*function, call, span);
      return call_of_value(kept, call, span);
    }
    if (slot_of(*name) || !namespaces().known(name->id)) return call_by_name(*name, call, span);
  }
  if (std::string path = namespace_path(*call.callee); !path.empty()) {
    return call_namespace(path, arguments_of(call), span);
  }
  if (const auto* attribute = call.callee->as<ast::Attribute>()) {
    const auto* root = attribute->object->as<ast::Name>();
    if (root && root->id == "relish" && !slot_of(*root) && !variable(*root)) {
      if (const Command* command = find_command(attribute->name);
          command && (command->surfaces & in_scripts)) {
        return call_command(*command, arguments_of(call), span);
      }
      if (const Builtin* builtin = find_builtin(attribute->name)) {
        CallArguments arguments(builtin->name, arguments_of(call), span);
        return builtin->call(script(), arguments);
      }
      unknown_name(attribute->name, attribute->name_span);
    }
    refuse_library(*attribute, &call, span);
    return call_method(*attribute, call, span);
  }
  const ScriptValue callee = value_of(*call.callee);
  check_callable(callee, *call.callee);
  return call_of_value(callee, call, span);
}

ScriptValue ScriptCalls::call(const ScriptValue& callee, std::vector<NamedValue> arguments, Span span) {
  if (const auto* function = callee.as<ScriptFunctionPtr>()) {
    if ((*function)->text) return call_script(*function, std::move(arguments), span);
    CallArguments given((*function)->name, std::move(arguments), span);
    if ((*function)->builtin) return (*function)->builtin->call(script(), given);
    return (*function)->method->call(script(), (*function)->self, given);
  }
  if (const auto* function = callee.as<FunctionReference>())
    return call_function(*function, std::move(arguments), span);
  if (const auto* object = callee.as<std::shared_ptr<const ObjectValue>>())
    return call_value(*object, std::move(arguments), span);
  fail(ErrorClass::Type, span, "call.callee", fmt::format("found {}; expected a function", describe(callee)));
}

ScriptValue ScriptCalls::call_value(const std::shared_ptr<const ObjectValue>& function,
                                    std::vector<NamedValue> arguments, Span span) {
  std::vector<NamedValue> all = {{"", ScriptValue(function), span}};
  for (NamedValue& argument : arguments) {
    if (!argument.name.empty()) {
      fail(ErrorClass::Usage, argument.span, "call.arguments",
           fmt::format("found the argument '{}'; a function value takes its arguments by place",
                       argument.name));
    }
    all.push_back(std::move(argument));
  }
  auto [module, name] = function_values_.caller(all.size() - 1);
  const std::uint32_t own = module->function(name)->span.file;
  try {
    return call_function({module, name}, std::move(all), span);
  } catch (Failure& failure) {
    // The module that calls is nothing that the user wrote.
    Diagnostic& first = failure.diagnostics().front();
    if (first.span.file == own) first.span = span;
    throw;
  }
}

ScriptValue ScriptCalls::call_by_name(const ast::Name& callee, const ast::Call& call, Span span) {
  const std::string& name = callee.id;
  if (slot_of(callee)) value_of_name(callee, call.callee->span);
  if (name == "donate") {
    const std::string* given = call.arguments.size() == 1 ? ast::name_of(*call.arguments[0].value) : nullptr;
    if (given && slot_of(*call.arguments[0].value->as<ast::Name>())) {
      fail(ErrorClass::Type, call.arguments[0].value->span, "donate.name",
           "donate takes a name of the script; a function's own values go when it returns");
    }
    if (!given) fail(ErrorClass::Type, span, "donate.name", "donate takes one name");
    if (!environment_.find(*given)) unknown_name(*given, call.arguments[0].value->span);
    return donate(*given);
  }
  if (const Builtin* builtin = find_builtin(name)) {
    const bool all = name == "all";
    if (const auto* generator = all || name == "any" ? generator_of(call) : nullptr)
      return truth_in_generator(*generator, all);
    CallArguments arguments(builtin->name, arguments_of(call), span);
    return builtin->call(script(), arguments);
  }
  if (const Command* command = find_command(name); command && (command->surfaces & in_scripts)) {
    return call_command(*command, command->subject == Subject::Name ? names_of(call) : arguments_of(call),
                        span);
  }
  // A module with that one function name, as `M.f` may be written `f` when it is unique.
  std::vector<FunctionReference> owners;
  for (const std::string& candidate : names().names()) {
    if (kind_name(*names().peek(candidate)) != "module") continue;
    const auto* module = names().find(candidate)->as<ModulePtr>();
    if (module && (*module)->find(name)) owners.push_back({*module, name});
  }
  if (owners.size() == 1) return call_of_module(owners[0], call, span);
  if (owners.empty() && observer()) {
    if (const auto value = observer()->unbound(name, call.callee->span))
      return this->call(*value, arguments_of(call), span);
  }
  if (owners.size() > 1) {
    fail(ErrorClass::Type, call.callee->span, "name.ambiguous",
         fmt::format("'{}' is a function of {} modules; write MODULE.{}", name, owners.size(), name));
  }
  unknown_name(name, call.callee->span);
}

namespace {

// d.setdefault(k, []).append(x) is two statements here. What another call gives is a value of its own.
std::string change_advice(const ast::Attribute& method, const ast::Call& call) {
  const auto* given = method.object->as<ast::Call>();
  const auto* asked = given ? given->callee->as<ast::Attribute>() : nullptr;
  if (!asked || asked->name != "setdefault" || given->arguments.empty() || call.arguments.size() != 1)
    return "bind it to a name first";
  const std::string_view dict = written_at(asked->object->span);
  return fmt::format("write {}, then {}[{}].{}({})", written_at(method.object->span), dict,
                     written_at(given->arguments[0].value->span), method.name,
                     written_at(call.arguments[0].value->span));
}

}  // namespace

ScriptValue ScriptCalls::call_method(const ast::Attribute& method, const ast::Call& call, Span span) {
  // One that changes what a name holds works at the name's place, which is found once.
  std::optional<Place> place = is_change(method.name) ? place_of(*method.object) : std::nullopt;
  if (place && place->steps.empty()) {
    const ScriptValue* held = variable(*place->name);
    const ValueMethod* found = held ? find_method(*held, method.name) : nullptr;
    if (found && found->change) {
      std::vector<NamedValue> given = arguments_of(call);
      const std::uint32_t levels = levels_behind(method.name, given);
      CallArguments arguments(method.name, std::move(given), span);
      return found->change(to_change(*place, levels, {span}), arguments, undo());
    }
  }
  ScriptValue object = place ? value_at(*place) : value_of(*method.object);
  if (object.as<ShapeValue>()) object = shape_as_tuple(object);
  if (!object.string() && has_generator(call)) refuse_generator(call);
  if (const auto* module = object.as<ModulePtr>(); module && (*module)->find(method.name)) {
    return call_of_module({*module, method.name}, call, span);
  } else if (const ScriptValue* own = module ? library_function(*module, method.name) : nullptr) {
    return this->call(*own, arguments_of(call), span);
  }
  const ValueMethod* found = find_method(object, method.name);
  if (!found) {
    if (object.as<ModulePtr>()) value_of_attribute(method, span);
    no_attribute(object, method.name, method.name_span, object.tensor() ? method_call_advice(call) : "");
  }
  std::vector<NamedValue> given = arguments_of(call);
  const std::uint32_t levels = levels_behind(method.name, given);
  CallArguments arguments(method.name, std::move(given), span);
  if (found->call) return found->call(script(), object, arguments);
  if (!place) {
    fail(ErrorClass::Type, method.object->span, "script.change",
         fmt::format("'{}' changes what a name holds, found {}; {}", method.name,
                     ast::describe(*method.object), change_advice(method, call)));
  }
  object = {};  // no second holder
  return found->change(to_change(*place, levels, {span}), arguments, undo());
}

ScriptValue ScriptCalls::call_namespace(const std::string& path, const std::vector<NamedValue>& arguments,
                                        Span span) {
  const std::string_view instead = written_in_statements(path);
  if (!path.starts_with("R.") || !instead.empty()) {
    fail(ErrorClass::Type, span, "script.namespace",
         fmt::format("'{}' is not for statements; {}", printable(path),
                     instead.empty() ? "it stands in functions; expected an operator of R" : instead));
  }
  std::string name = path.substr(2);
  CallArguments special("R." + name, arguments, span);
  bool known = false;
  ScriptValue value = relax_value(name, special, known);
  if (known) return value;
  const Tensor* first = arguments.empty() ? nullptr : arguments[0].value.tensor();
  if (name == "sum" && first && is_bool(first->dtype())) {
    Diagnostic note;
    note.severity = Severity::Note;
    note.span = span;
    note.message = sum_of_bools_note;
    session_.report(note);
  }
  return operators_.call(name, arguments, span);
}

namespace {

// What gives the states that a function of a trainer takes as this argument; empty for other arguments.
std::string origin_of_states(const FunctionReference& function, std::size_t argument) {
  const FunctionPtr called = function.module->function(function.name);
  const std::optional<RoleSignature> roles = called ? roles_of(*called) : std::nullopt;
  if (!roles || argument >= roles->params.size() || roles->params[argument].role != Role::States) return {};
  for (const std::string& name : function.module->names()) {
    const FunctionPtr init = function.module->function(name);
    const std::optional<RoleSignature> of_init = init ? roles_of(*init) : std::nullopt;
    if (of_init && of_init->kind == "optimizer_init" &&
        same_type(init->result_type, called->params[argument].type()))
      return fmt::format("{}.{}(params) gives the first states", function.module->name, name);
  }
  return {};
}

}  // namespace

ScriptValue ScriptCalls::call_function(const FunctionReference& function, std::vector<NamedValue> arguments,
                                       Span span, std::size_t donations) {
  unfinished_modules().refuse(function, span);
  for (const NamedValue& argument : arguments) unfinished_modules().refuse(argument.value, argument.span);
  std::vector<CallParameter> parameters = call_parameters(*function.module, function.name);
  refuse_starred_names(function.name, parameters, arguments);
  const std::vector<const NamedValue*> given = placed_arguments(function.name, parameters, arguments, span);
  std::vector<Value> values;
  std::vector<Span> places;
  NamedTrees trees(*function.module, function.name);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    places.push_back(given[i]->span);
    const Type& wanted = parameters[i].type;
    try {
      const bool takes_functions = wanted.function() || wanted.as<AnyType>() || wanted.as<TupleType>();
      const ScriptValue tree = trees.argument(i, given[i]->value, given[i]->span);
      const ScriptValue argument =
          takes_functions ? function_values_.as_values(tree, session_.evaluator(), given[i]->span) : tree;
      values.push_back(to_runtime(argument, wanted, given[i]->span,
                                  fmt::format("argument '{}' of {}", parameters[i].name, function.name)));
    } catch (Failure& failure) {
      const std::string origin = origin_of_states(function, i);
      if (!origin.empty()) failure.note({}, origin);
      throw;
    }
  }
  // A donated value must have no other holder.
  GivenParams gives;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]->given) gives.push_back(i);
  std::vector<Shape> shapes;  // for what is said of one that does not fit
  for (const NamedValue* argument : given)
    shapes.push_back(argument->value.tensor() ? argument->value.tensor()->shape() : Shape());
  arguments.clear();
  try {
    poll_interrupt(span);
    accept_donations(function, values, donations);
    if (options_.observer) options_.observer->called(function, values);
    return trees.result(from_runtime(
        call_giving(session_.evaluator(), function.module, function.name, std::move(values), gives)));
  } catch (Failure& failure) {
    if (options_.observer && failure.error_class() == ErrorClass::Data) options_.observer->refused(function);
    // A value that does not fit is the argument's fault; what its parameter takes is a note.
    Diagnostic& first = failure.diagnostics().front();
    for (std::size_t i = 0; i < parameters.size() && first.id.starts_with("entry."); ++i) {
      if (!parameters[i].span.known() || parameters[i].span != first.span) continue;
      first.note(first.span, fmt::format("parameter '{}' of {}", parameters[i].name, function.name));
      first.span = places[i];
      first.message +=
          hint_of_shape(shapes[i], parameters[i].type, parameters[i].name == "targets", parameters[i].name);
      throw;
    }
    bool elsewhere = !failure.diagnostics().empty() && failure.diagnostics().front().span.known();
    if (elsewhere && failure.error_class() != ErrorClass::Interrupted)
      failure.note(span, "in the call made here");
    failure.at(span);
    throw;
  }
}

}  // namespace relish
