// Reading of the files that texts load.
#include "shell/program/module_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "frontend/module/module_links.h"
#include "shell/program/program_file.h"
#include "shell/program/reading.h"
#include "shell/script/builtins.h"
#include "shell/script/constant_values.h"
#include "shell/script/methods.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {

namespace fs = std::filesystem;

void refuse_cycle(const std::string& path, const std::vector<std::string>& chain, std::string_view id,
                  std::string_view verb, Span span) {
  auto first = std::find_if(chain.begin(), chain.end(),
                            [&](const std::string& open) { return same_file(open, path); });
  if (first == chain.end()) return;
  std::string names;
  for (auto file = first; file != chain.end(); ++file)
    names += fmt::format("{} {}s ", printable(*file), verb);
  fail(ErrorClass::Type, span, id, fmt::format("files {} each other: {}{}", verb, names, printable(*first)));
}

LoadedModule load_module_file(const std::string& path, const PathRules& rules,
                              const std::vector<std::string>& chain, Span span) {
  const std::string resolved = resolve(rules, path, span);
  refuse_cycle(resolved, chain, "load.cycle", "load", span);
  PathRules beside = rules;
  beside.folder = fs::path(resolved).parent_path().string();
  beside.arguments.clear();  // they are the first text's
  ProgramFile program;
  try {
    std::optional<ConfinedFiles> confined;
    if (rules.confined) confined.emplace(file_rules(rules));
    program = read_program(resolved, beside, chain);
  } catch (Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    bool elsewhere = first.span.known() || !first.place.empty();
    if (elsewhere && first.id != "load.cycle") failure.note(span, "it is loaded here");
    failure.at(span);
    throw;
  }
  std::vector<ModulePtr> modules = program.modules();
  if (modules.empty() && !program.library) {
    fail(ErrorClass::Usage, span, "load.empty", fmt::format("'{}' declares no functions", printable(path)));
  }
  if (modules.empty()) {
    auto none = std::make_shared<Module>();
    none->name = "Module";
    modules.push_back(std::move(none));
  }
  if (modules.size() > 1) {
    std::string names;
    for (const ModulePtr& module : modules) names += (names.empty() ? "" : ", ") + module->name;
    fail(ErrorClass::Usage, span, "load.several",
         fmt::format(
             "'{}' declares several modules ({}); load takes a file with one; put them into one class, "
             "or into files of their own",
             printable(path), names));
  }
  return {modules.front(), std::move(program.warnings), std::move(program.library)};
}

void allow_loads(ReadOptions& options, const PathRules& rules, std::vector<std::string> chain) {
  options.constant_value = constant_values(rules.arguments);
  options.is_change = is_change;
  options.makes_no_module = makes_no_module;
  options.load_module = [rules, chain = std::move(chain)](const std::string& path, Span at) {
    return load_module_file(path, rules, chain, at).module;
  };
}

}  // namespace relish
