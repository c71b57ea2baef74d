// Loading and linking of other files' modules.
#include "frontend/module/module_links.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "ir/calls/foreign_calls.h"
#include "ir/equality/equal.h"
#include "ir/operators/user_gradient.h"
#include "ir/rewriting/rewrite.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

bool equal_functions(const GlobalFunction& a, const GlobalFunction& b) {
  Module one, other;
  one.set(a);
  other.set(b);
  return equal_modulo_names(one, other);
}

}  // namespace

bool is_program_path(std::string_view path) {
  auto ends = [&](std::string_view extension) {
    return path.size() > extension.size() && path.substr(path.size() - extension.size()) == extension;
  };
  return ends(".relish") || ends(".py") || ends(".ipynb");
}

const std::string* loaded_program_path(const ast::Expr& expr) {
  auto* call = expr.as<ast::Call>();
  if (!call || call->arguments.size() != 1) return nullptr;
  std::string callee = ast::dotted_name(*call->callee);
  const ast::Argument& argument = call->arguments[0];
  auto* path = argument.value->as<ast::StringValue>();
  bool loads = (callee == "load" || callee == "relish.load") && argument.name.empty() && argument.stars == 0;
  return loads && path && is_program_path(path->value) ? &path->value : nullptr;
}

ModuleLinks::ModuleLinks(ReadContext& context, const ReadOptions& options)
    : context_(context), options_(options), linked_(options.session_links) {
  for (const auto& [name, held] : options.session_loads) {
    Source source;
    source.held = held;
    sources_.emplace(name, std::move(source));
  }
}

void ModuleLinks::collect(const ast::Block& statements) {
  std::map<std::string, int> bindings;
  for (const ast::Statement& statement : statements) {
    for_each_bound_name(statement, [&](const std::string& name, Span) { ++bindings[name]; });
  }
  // A name that this text binds means what this text says.
  for (const auto& [name, count] : bindings) sources_.erase(name);
  if (!options_.load_module) return;
  for (const ast::Statement& statement : statements) {
    auto* assignment = statement.as<ast::Assignment>();
    if (!assignment || !assignment->value || assignment->targets.size() != 1) continue;
    const std::string* name = ast::name_of(*assignment->targets[0]);
    const std::string* path = loaded_program_path(*assignment->value);
    if (!name || !path) continue;
    Source source;
    source.path = *path;
    source.span = assignment->value->span;
    source.bindings = bindings[*name];
    sources_.insert_or_assign(*name, std::move(source));
  }
  if (!options_.load_all) return;
  for (auto& [name, source] : sources_) {
    context_.attempt([&] {
      try {
        read(source);
      } catch (const Failure& failure) {
        source.failed = failure.error_class() != ErrorClass::IO;
        if (source.failed) throw;
      }
    });
  }
}

void ModuleLinks::add(const ModulePtr& module) {
  Source source;
  source.span = module->span;
  source.module = module;
  sources_.insert_or_assign(module->name, std::move(source));
}

Span ModuleLinks::span_of(const std::string& name) const {
  auto dotted = linked_.find(name);
  if (dotted == linked_.end()) return {};
  auto source = sources_.find(dotted->second.substr(0, dotted->second.find('.')));
  return source == sources_.end() ? Span{} : source->second.span;
}

void ModuleLinks::refuse_change_of_callers(const std::string& linked, const std::string& module, Span use,
                                           const std::function<bool(const std::string&)>& is_declared) const {
  for (const GlobalFunction& candidate : options_.session_functions->functions) {
    const auto* graph = std::get_if<FunctionPtr>(&candidate);
    if (!graph || linked_before((*graph)->name) || is_declared((*graph)->name)) continue;
    const std::vector<std::string> called = global_references(**graph);
    if (std::find(called.begin(), called.end(), linked) == called.end()) continue;
    fail(ErrorClass::Type, use, "link.clash",
         fmt::format("'{}' calls what '{}' held before, and would call this instead; give the new module "
                     "another name, or define '{}' again beside this",
                     printable((*graph)->name), printable(module), printable((*graph)->name)));
  }
}

void ModuleLinks::read(Source& source) {
  if (source.module) return;
  if (source.failed) throw ReadContext::Silent{};
  source.module = source.held ? source.held() : options_.load_module(source.path, source.span);
}

std::optional<std::vector<GlobalFunction>> ModuleLinks::link(const std::string& module,
                                                             const std::string& function, Span use) {
  auto found = sources_.find(module);
  if (found == sources_.end()) return std::nullopt;
  Source& source = found->second;
  if (source.bindings > 1) {
    fail(ErrorClass::Type, use, "link.bindings",
         fmt::format("'{}' is bound by {} statements; a function uses a module that is loaded once",
                     printable(module), source.bindings),
         {{source.span, "it is loaded here"}});
  }
  try {
    read(source);
  } catch (const Failure&) {
    // Told once, at the first use.
    source.failed = true;
    throw;
  }
  if (!source.module->find(function)) {
    fail(ErrorClass::Type, use, "name.unknown",
         fmt::format("module '{}' has no function '{}'{}", printable(module), printable(function),
                     did_you_mean(function, source.module->names())));
  }
  if (!source.copied) {
    source.copies = with_prefix(*source.module, module + "_");
    source.copied = true;
  }
  std::vector<GlobalFunction> result;
  std::vector<std::string> wanted = {linked_name(module, function)};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const GlobalFunction* copy = source.copies.find(wanted[i]);
    RELISH_CHECK(copy != nullptr, "a linked function refers to one that was not copied");
    // One that an earlier input linked in stays as it is while it is the same.
    const GlobalFunction* known =
        options_.session_functions ? options_.session_functions->find(wanted[i]) : nullptr;
    bool same = known && options_.session_links.count(wanted[i]) && equal_functions(*known, *copy);
    result.push_back(same ? *known : *copy);
    std::vector<std::string> references;
    if (const auto* graph = std::get_if<FunctionPtr>(copy)) references = global_references(**graph);
    if (const auto* prim = std::get_if<PrimFuncPtr>(copy)) references = called_prim_funcs(**prim);
    // A gradient that is declared for it holds here too.
    for (const GlobalFunction& other : source.copies.functions) {
      const auto* graph = std::get_if<FunctionPtr>(&other);
      const Attribute* of = graph ? find_attribute((*graph)->attributes, gradient_attribute) : nullptr;
      if (of && of->as<std::string>() && *of->as<std::string>() == wanted[i])
        references.push_back((*graph)->name);
    }
    for (const std::string& name : references) {
      if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
    }
    std::string plain = wanted[i].substr(module.size() + 1);
    linked_.insert_or_assign(wanted[i], module + "." + plain);
  }
  return result;
}

}  // namespace relish
