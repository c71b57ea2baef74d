// The holes of each module, by its handle.
#include "shell/script/unfinished_modules.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/rewriting/rewrite.h"
#include "support/failure.h"
#include "support/render.h"

namespace relish {

static bool stands_in(const HoleReport& hole, const ast::Statement& statement) {
  return statement.whole.begin <= hole.span.begin && hole.span.end <= statement.whole.end;
}

bool has_only_holes(const ReadResult& read, const std::vector<Diagnostic>& diagnostics) {
  if (read.holes.empty()) return false;
  const bool others = std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& each) {
    return each.severity == Severity::Error && !each.id.starts_with("hole.");
  });
  if (others) return false;
  return std::all_of(read.holes.begin(), read.holes.end(), [&](const HoleReport& hole) {
    return std::any_of(read.script.begin(), read.script.end(), [&](const ast::Statement& statement) {
      return statement.as<ast::DeclareModule>() && stands_in(hole, statement);
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

void UnfinishedModules::begin_text(const std::vector<HoleReport>& holes,
                                   const std::vector<Diagnostic>& told) {
  of_text_ = holes;
  told_ = holes.empty() ? std::vector<Diagnostic>() : told;
}

void UnfinishedModules::note_bound(const ast::Statement& statement, const Environment& environment) {
  const auto* declared = of_text_.empty() ? nullptr : statement.as<ast::DeclareModule>();
  if (!declared) return;
  std::vector<HoleReport> own;
  for (const HoleReport& hole : of_text_)
    if (stands_in(hole, statement)) own.push_back(hole);
  const ScriptValue* bound = own.empty() ? nullptr : environment.find(declared->module->name);
  if (const auto* module = bound ? bound->as<ModulePtr>() : nullptr) holes_[*module] = std::move(own);
}

void UnfinishedModules::refuse(const ModulePtr& module, Span span) const {
  const auto found = holes_.find(module);
  if (found == holes_.end()) return;
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Type;
  diagnostic.id = "hole.run";
  diagnostic.span = span;
  const std::vector<HoleReport>& holes = found->second;
  diagnostic.message = fmt::format("{} has the hole '?{}'{}; expected a module without holes", module->name,
                                   printable(holes.front().name),
                                   holes.size() == 1 ? "" : fmt::format(" and {} more", holes.size() - 1));
  for (const HoleReport& hole : holes)
    diagnostic.note(hole.span,
                    hole.candidates.empty()
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
