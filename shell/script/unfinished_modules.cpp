// The holes of each module, by its handle.
#include "shell/script/unfinished_modules.h"

#include <algorithm>
#include <functional>
#include <set>

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
      return (statement.as<ast::DeclareModule>() || statement.as<ast::DeclareFunction>()) &&
             stands_in(hole, statement);
    });
  });
}

// What stands for holes in the function.
static void for_each_hole(const GlobalFunction& function, const std::function<void(const Expr&)>& visit) {
  const auto* graph = std::get_if<FunctionPtr>(&function);
  if (!graph) return;
  for_each_expr(**graph, [&](const Expr& expr) {
    const Var* var = expr.as_var();
    if (var && var->name().starts_with('?')) visit(expr);
  });
}

bool has_holes(const Module& module) {
  bool any = false;
  for (const GlobalFunction& function : module.functions)
    for_each_hole(function, [&](const Expr&) { any = true; });
  return any;
}

// Of the functions those with holes, and those that call one of them.
static std::vector<GlobalFunction> unfinished_among(const std::vector<GlobalFunction>& functions) {
  std::vector<GlobalFunction> unfinished;
  std::set<std::string> names;
  for (std::size_t before = SIZE_MAX; before != unfinished.size();) {
    before = unfinished.size();
    for (const GlobalFunction& function : functions) {
      if (names.contains(name_of(function))) continue;
      const auto* graph = std::get_if<FunctionPtr>(&function);
      const std::vector<std::string> called = graph ? global_references(**graph) : std::vector<std::string>();
      bool any = std::any_of(called.begin(), called.end(),
                             [&](const std::string& callee) { return names.contains(callee); });
      for_each_hole(function, [&](const Expr&) { any = true; });
      if (!any) continue;
      names.insert(name_of(function));
      unfinished.push_back(function);
    }
  }
  return unfinished;
}

UnfinishedFunctions put_aside_unfinished(std::vector<GlobalFunction>& functions,
                                         const ModulePtr& free_functions) {
  UnfinishedFunctions result;
  if (unfinished_modules().told().empty()) return result;
  const std::vector<GlobalFunction> aside = unfinished_among(functions);
  if (aside.empty()) return result;
  Module whole = free_functions ? *free_functions : Module();
  for (const GlobalFunction& function : functions) whole.set(function);
  result.module = std::make_shared<const Module>(std::move(whole));
  for (const GlobalFunction& function : aside) result.names.insert(name_of(function));
  std::erase_if(functions,
                [&](const GlobalFunction& function) { return result.names.contains(name_of(function)); });
  return result;
}

void tell_bound(const ReadResult& read, std::vector<Diagnostic>& told) {
  for (const ast::Statement& statement : read.script) {
    const auto* module = statement.as<ast::DeclareModule>();
    const auto* function = statement.as<ast::DeclareFunction>();
    if (!module && !function) continue;
    const auto holes = std::count_if(read.holes.begin(), read.holes.end(),
                                     [&](const HoleReport& hole) { return stands_in(hole, statement); });
    const auto last = std::find_if(told.rbegin(), told.rend(), [&](const Diagnostic& each) {
      return each.id.starts_with("hole.") && statement.whole.begin <= each.span.begin &&
             each.span.end <= statement.whole.end;
    });
    if (holes == 0 || last == told.rend()) continue;
    last->note({}, fmt::format("'{}' is bound all the same; it runs when {} written",
                               module ? module->module->name : name_of(function->function),
                               holes == 1 ? "its hole is" : "its holes are"));
  }
}

UnfinishedModules& unfinished_modules() {
  static UnfinishedModules all;
  return all;
}

std::vector<HoleReport>& UnfinishedModules::holes_of(const ModulePtr& module) {
  std::erase_if(holes_, [](const auto& entry) { return entry.first.expired(); });
  return holes_[module];
}

void UnfinishedModules::begin_text(const std::vector<HoleReport>& holes,
                                   const std::vector<Diagnostic>& told) {
  of_text_ = holes;
  told_ = holes.empty() ? std::vector<Diagnostic>() : told;
}

void UnfinishedModules::note_bound(const ast::Statement& statement, const Environment& environment) {
  if (of_text_.empty()) return;
  std::vector<HoleReport> own;
  for (const HoleReport& hole : of_text_)
    if (stands_in(hole, statement)) own.push_back(hole);
  if (own.empty()) return;
  if (const auto* declared = statement.as<ast::DeclareModule>()) {
    const ScriptValue* bound = environment.find(declared->module->name);
    if (const auto* module = bound ? bound->as<ModulePtr>() : nullptr) holes_of(*module) = std::move(own);
  } else if (const auto* function = statement.as<ast::DeclareFunction>()) {
    const ScriptValue* bound = environment.find(name_of(function->function));
    const auto* reference = bound ? bound->as<FunctionReference>() : nullptr;
    if (!reference) return;
    std::vector<HoleReport>& all = holes_of(reference->module);
    all.insert(all.end(), own.begin(), own.end());
  }
}

void UnfinishedModules::note(const ModulePtr& module, std::vector<HoleReport> holes) {
  for (const GlobalFunction& function : module->functions) {
    for_each_hole(function, [&](const Expr& expr) {
      const std::string name = expr.as_var()->name().substr(1);
      const bool told =
          std::any_of(holes.begin(), holes.end(), [&](const HoleReport& hole) { return hole.name == name; });
      if (!told) holes.push_back({name, expr.span(), "", {}});
    });
  }
  if (!holes.empty()) holes_of(module) = std::move(holes);
}

void UnfinishedModules::explain(Failure& failure, const Environment& environment) const {
  if (holes_.empty()) return;
  for (Diagnostic& diagnostic : failure.diagnostics()) {
    const std::size_t quote = diagnostic.message.find('\'');
    if (!diagnostic.id.starts_with("name.") || quote == std::string::npos) continue;
    const std::string name =
        diagnostic.message.substr(quote + 1, diagnostic.message.find('\'', quote + 1) - quote - 1);
    const ScriptValue* bound = environment.peek(name);
    const auto* reference = bound ? bound->as<FunctionReference>() : nullptr;
    const auto found = reference ? holes_.find(reference->module) : holes_.end();
    if (found == holes_.end()) continue;
    diagnostic.note(found->second.front().span,
                    fmt::format("'{}' has the hole '?{}': no other function calls it before that is written",
                                name, printable(found->second.front().name)));
  }
}

void UnfinishedModules::refuse(const ModulePtr& module, Span span, const std::string& function) const {
  const auto found = holes_.find(module);
  if (found == holes_.end()) return;
  Diagnostic diagnostic;
  diagnostic.error_class = ErrorClass::Type;
  diagnostic.id = "hole.run";
  diagnostic.span = span;
  const std::vector<HoleReport>& holes = found->second;
  const GlobalFunction* own = function.empty() ? nullptr : module->find(function);
  bool calls = own != nullptr;
  if (own) for_each_hole(*own, [&](const Expr&) { calls = false; });
  diagnostic.message = fmt::format("{} {} the hole '?{}'{}; expected a {} without holes",
                                   function.empty() ? module->name : function,
                                   calls ? "calls what has" : "has", printable(holes.front().name),
                                   holes.size() == 1 ? "" : fmt::format(" and {} more", holes.size() - 1),
                                   function.empty() ? "module" : "function");
  for (const HoleReport& hole : holes)
    diagnostic.note(hole.span,
                    hole.candidates.empty()
                        ? fmt::format("'?{}' is to be written", printable(hole.name))
                        : fmt::format("'?{}' may be '{}'", printable(hole.name), hole.candidates.front()));
  throw Failure(std::move(diagnostic));
}

void UnfinishedModules::refuse(const FunctionReference& function, Span span) const {
  const bool free = function.module->name == free_functions_name;
  refuse(function.module, span, free ? function.name : std::string());
}

void UnfinishedModules::refuse(const ScriptValue& value, Span span) const {
  if (holes_.empty()) return;
  if (const auto* module = value.as<ModulePtr>()) refuse(*module, span);
  if (const auto* function = value.as<FunctionReference>()) refuse(*function, span);
}

}  // namespace relish
