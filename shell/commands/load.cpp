// The command `load`: tensors of a data file, or the declarations of another text.
#include "frontend/module/module_links.h"
#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "runtime/files.h"
#include "shell/commands/subject.h"
#include "shell/program/module_files.h"
#include "shell/script/convert.h"
#include "shell/script/script.h"
#include "support/render.h"

namespace relish::commands_load {
namespace {

constexpr Option options[] = {
    {"target", OptionKind::Text, "", "column of a CSV file: the result is (other columns, target)", 0,
     in_scripts},
    {"dtype", OptionKind::Text, "float32", "dtype of the columns of a CSV file", 0, in_scripts},
};

constexpr Example examples[] = {
    {"relish load weights.npz", "p = load(\"weights.npz\")"},
    {"", "layers = load(\"layers.relish\")"},
};

ScriptValue value_of_tensors(NamedTensors tensors) {
  if (tensors.size() == 1 && tensors.front().first.empty()) return tensors.front().second;
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (auto& [name, tensor] : tensors) items.emplace_back(name, std::move(tensor));
  return ScriptValue::dict(std::move(items));
}

std::string listing(const std::string& path, const NamedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", name.empty() ? path : name,
                        print(type_of(Value(tensor))));
  }
  return text;
}

ScriptValue run(Invocation& invocation) {
  if (invocation.files.empty()) {
    fail(ErrorClass::Type, invocation.span, "command.subject",
         fmt::format("load: found {}; expected a path", describe(invocation.value)));
  }
  std::string path = invocation.files.front();
  if (is_program_path(path)) {
    if (invocation.script) return invocation.script->load_module(invocation.files.front(), invocation.span);
    LoadedModule loaded =
        load_module_file(path, path_rules(invocation.session, "", false), {}, invocation.span);
    invocation.session.report(loaded.warnings);
    const ModulePtr& module = loaded.module;
    std::string text = fmt::format("module {}", module->name);
    for (const std::string& name : module->names()) text += "\n  " + name;
    return text;
  }
  if (invocation.script) path = invocation.script->resolve_path(path, invocation.span);
  if (invocation.given("target") || invocation.given("dtype")) {
    const std::string_view option = invocation.given("target") ? "target" : "dtype";
    if (is_other_than_csv(path)) {
      fail(ErrorClass::Usage, invocation.span_of(std::string(option)), "option.value",
           fmt::format("load: {} is of CSV files, and {} is none{}", option, printable(path),
                       option == "dtype" ? "; convert what it holds by astype" : ""));
    }
    DType dtype = invocation.given("dtype")
                      ? dtype_of_value(invocation.text("dtype"), invocation.span_of("dtype"))
                      : DType::Float32;
    CsvTable table = read_csv(path, dtype);
    if (!invocation.given("target")) return table.values;
    auto [others, target] = split_target(table, invocation.text("target"), path);
    return ScriptValue::tuple({ScriptValue(others), ScriptValue(target)});
  }
  NamedTensors tensors = read_tensors(path);
  if (invocation.surface == Surface::Shell) return listing(path, tensors);
  return value_of_tensors(std::move(tensors));
}

}  // namespace

extern const Command command_load;
const Command command_load{
    .name = "load",
    .summary = "reads tensors of a data file, or the declarations of another text",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "npy and IDX give a tensor, npz and safetensors a dict of tensors, .relish and .py a module. In the "
        "shell it "
        "lists what the file holds.",
};

}  // namespace relish::commands_load
