// The holes of each module, by its handle.
#include "shell/script/unfinished_modules.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {

bool has_only_holes(const ReadResult& read, const std::vector<Diagnostic>& diagnostics) {
  if (read.holes.empty()) return false;
  const bool others = std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& each) {
    return each.severity == Severity::Error && !each.id.starts_with("hole.");
  });
  if (others) return false;
  return std::all_of(read.holes.begin(), read.holes.end(), [&](const HoleReport& hole) {
    return std::any_of(read.script.begin(), read.script.end(), [&](const ast::Statement& statement) {
      return statement.as<ast::DeclareModule>() && statement.whole.begin <= hole.span.begin &&
             hole.span.end <= statement.whole.end;
    });
  });
}

bool has_holes(const Module& module) {
  bool any = false;
  for (const GlobalFunction& function : module.functions) {
    const auto* graph = std::get_if<FunctionPtr>(&function);
    if (!graph) continue;
    for_each_expr(**graph, [&](const Expr& expr) {
      const Var* var = expr.as_var();
      any |= var && var->name().starts_with('?');
    });
  }
  return any;
}

UnfinishedModules& unfinished_modules() {
  static UnfinishedModules all;
  return all;
}

void UnfinishedModules::add(const ModulePtr& module, const std::vector<HoleReport>& holes) {
  holes_[module] = holes;
}

void UnfinishedModules::refuse(const ModulePtr& module, Span span) const {
  const auto found = holes_.find(module);
  if (found == holes_.end()) return;
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Type;
  diagnostic.id = "hole.run";
  diagnostic.span = span;
  const std::vector<HoleReport>& holes = found->second;
  diagnostic.message =
      fmt::format("{} has the hole '?{}'{}; expected a module without holes", module->name,
                  printable(holes.front().name),
                  holes.size() == 1 ? "" : fmt::format(" and {} more", holes.size() - 1));
  for (const HoleReport& hole : holes)
    diagnostic.note(hole.span, hole.candidates.empty()
                                   ? fmt::format("'?{}' is to be written", printable(hole.name))
                                   : fmt::format("'?{}' may be '{}'", printable(hole.name), hole.candidates.front()));
  throw Failure(std::move(diagnostic));
}

void UnfinishedModules::refuse(const ScriptValue& value, Span span) const {
  if (holes_.empty()) return;
  if (const auto* module = value.as<ModulePtr>()) refuse(*module, span);
  if (const auto* function = value.as<FunctionReference>()) refuse(function->module, span);
}

}  // namespace relish
