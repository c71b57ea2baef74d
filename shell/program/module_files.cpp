// Reading of the files that texts load.
#include "shell/program/module_files.h"

#include <algorithm>
#include <filesystem>

#include "frontend/module_links.h"
#include "shell/program/program_file.h"
#include "shell/program/reading.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {
namespace {

namespace fs = std::filesystem;

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

void refuse_cycle(const std::string& path, const std::vector<std::string>& chain, Span span) {
  auto first = std::find_if(chain.begin(), chain.end(),
                            [&](const std::string& open) { return same_file(open, path); });
  if (first == chain.end()) return;
  std::string names;
  for (auto file = first; file != chain.end(); ++file) names += printable(*file) + " loads ";
  fail(ErrorClass::Type, span, "load.cycle",
       fmt::format("files load each other: {}{}", names, printable(*first)));
}

}  // namespace

LoadedModule load_module_file(const std::string& path, const PathRules& rules,
                              const std::vector<std::string>& chain, Span span) {
  const std::string resolved = resolve(rules, path, false, span);
  refuse_cycle(resolved, chain, span);
  PathRules beside = rules;
  beside.folder = fs::path(resolved).parent_path().string();
  ProgramFile program;
  try {
    program = read_program(resolved, beside, chain);
  } catch (Failure& failure) {
    const Diagnostic& first = failure.diagnostics().front();
    bool elsewhere = first.span.known() || !first.place.empty();
    if (elsewhere && first.id != "load.cycle") failure.note(span, "it is loaded here");
    failure.at(span);
    throw;
  }
  std::vector<ModulePtr> modules = program.modules();
  if (modules.empty()) {
    fail(ErrorClass::Usage, span, "load.empty", fmt::format("'{}' declares no functions", printable(path)));
  }
  if (modules.size() > 1) {
    std::string names;
    for (const ModulePtr& module : modules) names += (names.empty() ? "" : ", ") + module->name;
    fail(ErrorClass::Usage, span, "load.several",
         fmt::format("'{}' declares several modules ({}); load takes a file with one", printable(path),
                     names));
  }
  return {modules.front(), std::move(program.warnings)};
}

void allow_loads(ReadOptions& options, const PathRules& rules, std::vector<std::string> chain) {
  options.load_module = [rules, chain = std::move(chain)](const std::string& path, Span at) {
    return load_module_file(path, rules, chain, at).module;
  };
}

}  // namespace relish
