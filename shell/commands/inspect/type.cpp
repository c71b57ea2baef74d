// The command `type`: the type of a value or function.
#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "shell/commands/subject.h"
#include "shell/script/convert.h"

namespace relish::commands_type {
namespace {

constexpr Example examples[] = {{"relish type m.relish -f main", "type(M.main)"}};

std::string signature_of(const Module& module, const std::string& name) {
  std::string text = name + "(";
  if (FunctionPtr function = module.function(name)) {
    for (std::size_t i = 0; i < function->params.size(); ++i) {
      text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", function->params[i].name(),
                          print(function->params[i].type()));
    }
    return text + fmt::format(") -> {}", print(function->result_type));
  }
  PrimFuncPtr function = module.prim_func(name);
  if (!function) call_parameters(module, name);
  for (std::size_t i = 0; i < function->params.size(); ++i) {
    const PrimParam& param = function->params[i];
    Type type = param.buffer() ? tensor_type(param.buffer()->shape(), param.buffer()->dtype())
                               : Type(ScalarType{param.scalar()->dtype()});
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", param.name(), print(type));
  }
  return text + ")";
}

constexpr std::size_t most_characters = 10'000;  // of the types of nested tuples, which may share their parts

std::string type_text(const ScriptValue& value) {
  if (value.tensor()) return print(type_of(Value(*value.tensor())));
  if (const auto* shape = value.as<ShapeValue>()) return print(type_of(Value(*shape)));
  if (const auto* function = value.as<FunctionReference>())
    return signature_of(*function->module, function->name);
  if (const auto* module = value.as<ModulePtr>()) {
    std::string text = fmt::format("module {}", (*module)->name);
    for (const std::string& name : (*module)->names()) text += "\n  " + signature_of(**module, name);
    return text;
  }
  if (const ScriptList* list = value.sequence(); list && list->tuple) {
    std::string text = "tuple(";
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const bool full = text.size() > most_characters;
      text += (i == 0 ? "" : ", ") + (full ? std::string("...") : type_text(list->items[i]));
      if (full) break;
    }
    return text + ")";
  }
  return std::string(kind_name(value));
}

ScriptValue run(Invocation& invocation) {
  if (invocation.surface == Surface::Script) {
    // Of a list or tuple it is the word for it, so that type(x) == "tuple" says what it does in Python.
    return invocation.value.sequence() ? std::string(kind_name(invocation.value))
                                       : type_text(invocation.value);
  }
  if (invocation.function.empty()) return type_text(invocation.module);
  return signature_of(*invocation.module, invocation.function);
}

}  // namespace

extern const Command command_type;
const Command command_type{
    .name = "type",
    .summary = "shows the type of a value, or the signature of a function",
    .subject = Subject::Expression,
    .run = run,
    .examples = examples,
};

}  // namespace relish::commands_type
