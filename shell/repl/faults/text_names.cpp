// Binding without running.
#include "shell/repl/faults/text_names.h"

#include "frontend/names/binding_names.h"
#include "frontend/text/ast_walk.h"

namespace relish {
void TextNames::bind(const std::string& name, std::optional<ScriptValue> value) {
  removed_.erase(name);
  bound_[name] = std::move(value);
}

void TextNames::bind_target(const ast::Expr& target, const std::optional<ScriptValue>& value) {
  if (const std::string* name = ast::name_of(target)) return bind(*name, value);
  const auto* tuple = target.as<ast::TupleValue>();
  const ScriptList* items = tuple && value ? value->sequence() : nullptr;
  if (items && items->items.size() == tuple->items.size()) {
    for (std::size_t i = 0; i < items->items.size(); ++i) bind_target(*tuple->items[i], items->items[i]);
    return;
  }
  for_each_target_name(target, [&](const std::string& name, Span) { bind(name); });
}

void TextNames::remove(const std::string& name) {
  bound_.erase(name);
  removed_.insert(name);
}

void TextNames::forget(const ast::Block& block) {
  for (const ast::Statement& statement : block)
    for_each_bound_name(statement, [&](const std::string& name, Span) { bind(name); });
}

void TextNames::declare(const ast::Block& block) {
  for (const ast::Statement& statement : block) {
    if (const auto* import = statement.as<ast::Import>())
      for (const auto& bound : import->bound) bind(bound.name);
    if (const auto* module = statement.as<ast::DeclareModule>()) bind(module->module->name);
    if (const auto* function = statement.as<ast::DeclareFunction>()) bind(name_of(function->function));
    const bool declares = statement.as<ast::FunctionDefinition>() || statement.as<ast::Deferred>() ||
                          statement.as<ast::Damaged>();
    if (declares) for_each_bound_name(statement, [&](const std::string& name, Span) { bind(name); });
  }
}

bool TextNames::is_local(const std::string& name) const {
  for (const std::set<std::string>& names : locals_)
    if (names.contains(name)) return true;
  return false;
}

bool TextNames::is_of_session(const std::string& name) const {
  return !is_local(name) && !bound_.contains(name) && !removed_.contains(name) &&
         session_.peek(name) != nullptr;
}

bool TextNames::is_bound(const std::string& name) const {
  return is_local(name) || bound_.contains(name) || is_of_session(name);
}

std::optional<ScriptValue> TextNames::value(const std::string& name) const {
  if (deferred() || is_local(name)) return std::nullopt;
  if (const auto found = bound_.find(name); found != bound_.end()) return found->second;
  const ScriptValue* held = is_of_session(name) ? session_.peek(name) : nullptr;
  return held && !held->is_unread() ? std::optional(*held) : std::nullopt;
}

TextNames::Inside::Inside(TextNames& names, bool deferred) : names_(names), deferred_(deferred) {
  names_.locals_.emplace_back();
  names_.deferred_ += deferred;
}

TextNames::Inside::~Inside() {
  names_.locals_.pop_back();
  names_.deferred_ -= deferred_;
}

void TextNames::bind_local(const ast::Expr& target) {
  for_each_target_name(target, [&](const std::string& name, Span) { bind_local(name); });
}

void TextNames::bind_locals(const ast::Block& block) {
  for (const ast::Statement& statement : block)
    for_each_bound_name(statement, [&](const std::string& name, Span) { bind_local(name); });
}

}  // namespace relish
