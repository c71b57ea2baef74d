// The command `save`: tensors into a data file, a module into a text.
#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "shell/commands/subject.h"
#include "shell/program/text_file.h"
#include "shell/script/script.h"

namespace relish::commands_save {
namespace {

constexpr Option options[] = {
    {"output", OptionKind::OutputFile, "", "file to write: .npz, .safetensors or .npy", 'o', in_shell, true},
};

constexpr Example examples[] = {
    {"relish save weights.npz -o weights.safetensors", "save({\"w\": w}, \"weights.npz\")"},
    {"", "save(M, \"model.relish\")"},
};

NamedTensors named_tensors(const Invocation& invocation) {
  NamedTensors result;
  const ScriptValue& value = invocation.value;
  if (value.tensor()) {
    result.emplace_back("out", *value.tensor());
  } else if (const ScriptDict* dict = value.dictionary()) {
    for (const auto& [key, item] : dict->items) {
      if (!key.string() || !item.tensor()) {
        fail(ErrorClass::Type, invocation.span, "save.value",
             fmt::format("save: found {}: {}; expected names with tensors", brief_text(key), describe(item)));
      }
      result.emplace_back(*key.string(), *item.tensor());
    }
  } else {
    fail(ErrorClass::Type, invocation.span, "save.value",
         fmt::format("save: found {}; expected a tensor, a dict of tensors or a module", describe(value)));
  }
  return result;
}

ScriptValue run(Invocation& invocation) {
  if (invocation.surface == Surface::Shell) {
    if (invocation.files.size() != 1) fail(ErrorClass::Usage, {}, "command.subject", "save takes one file");
    NamedTensors tensors = read_tensors(invocation.files.front());
    for (auto& [name, tensor] : tensors) {
      if (name.empty()) name = "out";
    }
    write_tensors(invocation.text("output"), tensors);
    return {};
  }
  const std::string* path = invocation.arguments.size() == 1 ? invocation.arguments[0].string() : nullptr;
  if (!path)
    fail(ErrorClass::Usage, invocation.span, "save.path",
         "save takes a value and a path: save(value, \"out.npz\")");
  std::string target = invocation.script->resolve_path(*path, invocation.span);
  if (invocation.value.as<ModulePtr>() || invocation.value.as<FunctionReference>()) {
    write_program_text(target, text_of(invocation.value) + "\n");
  } else {
    write_tensors(target, named_tensors(invocation));
  }
  return {};
}

}  // namespace

extern const Command command_save;
const Command command_save{
    .name = "save",
    .summary = "writes tensors into a data file, or a module as text",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "A dict of tensors goes into .npz or .safetensors, one tensor into .npy too, a module into a text. "
        "In the shell "
        "it converts a data file.",
};

}  // namespace relish::commands_save
