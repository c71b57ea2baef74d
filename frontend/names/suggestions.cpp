// Walks that find what was meant.
#include "frontend/names/suggestions.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "frontend/names/binding_names.h"
#include "frontend/text/ast_walk.h"
#include "support/fix.h"

namespace relish {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Every statement, outer before inner, with those inside `with` and nested functions.
void for_each_statement(std::span<const ast::Statement> statements,
                        const std::function<void(const ast::Statement&)>& visit) {
  for (const ast::Statement& statement : statements) {
    visit(statement);
    for (const ast::Block* block : ast::inner_blocks(statement)) for_each_statement(*block, visit);
    if (auto* with = statement.as<ast::With>()) for_each_statement(with->body, visit);
    if (auto* function = statement.as<ast::FunctionDefinition>()) for_each_statement(function->body, visit);
  }
}

// The names that an expression reads as values.
void for_each_value_name(const ast::Expr& expr, const std::function<void(const std::string&)>& visit) {
  std::unordered_set<const ast::Expr*> no_values;
  ast::for_each_expr(expr, [&](const ast::Expr& inner) {
    if (auto* call = inner.as<ast::Call>()) no_values.insert(call->callee.get());
    if (auto* attribute = inner.as<ast::Attribute>()) no_values.insert(attribute->object.get());
    if (const std::string* name = ast::name_of(inner); name && !no_values.contains(&inner)) visit(*name);
  });
}

class UnboundNames {
 public:
  std::vector<std::string> of(const ast::FunctionDefinition& definition) {
    bind_parameters(definition);
    for_each_statement(definition.body, [&](const ast::Statement& statement) {
      for_each_bound_name(statement, [&](const std::string& name, Span) { bound_.insert(name); });
      if (auto* with = statement.as<ast::With>()) {
        for (const ast::WithItem& item : with->items) {
          if (const std::string* name = item.target ? ast::name_of(*item.target) : nullptr)
            bound_.insert(*name);
        }
      }
      if (auto* function = statement.as<ast::FunctionDefinition>()) bind_parameters(*function);
      if (auto* assignment = statement.as<ast::Assignment>(); assignment && assignment->annotation)
        bind_words(*assignment->annotation);
    });
    for_each_statement(definition.body, [&](const ast::Statement& statement) { read(statement); });
    return std::move(unbound_);
  }

 private:
  void bind_parameters(const ast::FunctionDefinition& definition) {
    for (const ast::TypeParameter& parameter : definition.type_parameters) bound_.insert(parameter.name);
    for (const ast::Parameter& parameter : definition.parameters) {
      bound_.insert(parameter.name);
      if (parameter.annotation) bind_words(*parameter.annotation);
    }
    if (definition.result_annotation) bind_words(*definition.result_annotation);
  }
  // A type declares dimensions by their names in strings.
  void bind_words(const ast::Expr& type) {
    ast::for_each_expr(type, [&](const ast::Expr& inner) {
      auto* text = inner.as<ast::StringValue>();
      if (!text) return;
      std::string word;
      for (char c : text->value + " ") {
        if (is_word(c)) {
          word += c;
        } else if (!word.empty()) {
          bound_.insert(std::exchange(word, {}));
        }
      }
    });
  }
  void read(const ast::Statement& statement) {
    for (const ast::Expr* expr : ast::own_expressions(statement)) read(*expr);
    if (auto* returned = statement.as<ast::Return>(); returned && returned->value) read(*returned->value);
    if (auto* assignment = statement.as<ast::Assignment>()) {
      for (const ast::ExprPtr& target : assignment->targets) {
        if (target->as<ast::Subscript>()) read(*target);
      }
    }
  }
  void read(const ast::Expr& expr) {
    for_each_value_name(expr, [&](const std::string& name) {
      if (!bound_.contains(name) && seen_.insert(name).second) unbound_.push_back(name);
    });
  }

  std::set<std::string> bound_, seen_;
  std::vector<std::string> unbound_;
};

}  // namespace

std::vector<std::string> unbound_names(const ast::FunctionDefinition& definition) {
  return UnboundNames().of(definition);
}

bool mentions_word(std::string_view text, std::string_view name, Span but) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool whole = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (whole && !(at >= but.begin && end <= but.end)) return true;
  }
  return false;
}

std::string fresh_name(std::string_view text, const std::string& name) {
  for (int i = 1;; ++i) {
    std::string fresh = fmt::format("{}_{}", name, i);
    if (!mentions_word(text, fresh)) return fresh;
  }
}

DiagnosticNote other_name(const ast::FunctionDefinition& definition, std::string_view text, Span at,
                          const std::string& name) {
  const std::vector<std::string> unbound = unbound_names(definition);
  return write_here(at, unbound.size() == 1 ? unbound[0] : fresh_name(text, name));
}

std::vector<DiagnosticNote> target_instead(const ast::FunctionDefinition& definition, Span at) {
  const std::vector<std::string> unbound = unbound_names(definition);
  if (unbound.size() > 1) return {};
  return {write_here(at, unbound.empty() ? "_" : unbound[0])};
}

std::optional<std::string> range_of_list(const ast::Expr& expr) {
  std::vector<std::int64_t> items;
  if (auto* numbers = expr.as<ast::NumberListValue>()) {
    items = numbers->integers;
  } else if (auto* list = expr.as<ast::ListValue>()) {
    for (const ast::ExprPtr& item : list->items) {
      auto* integer = item->as<ast::IntValue>();
      if (!integer) return std::nullopt;
      items.push_back(integer->value);
    }
  }
  if (items.empty()) return std::nullopt;
  constexpr std::int64_t large = std::int64_t{1} << 40;  // far from overflow
  for (std::int64_t item : items) {
    if (item < -large || item > large) return std::nullopt;
  }
  const std::int64_t step = items.size() > 1 ? items[1] - items[0] : 1;
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (items[i] - items[i - 1] != step) return std::nullopt;
  }
  if (step <= 0) return std::nullopt;
  const std::int64_t end = items.back() + step;
  if (step != 1) return fmt::format("range({}, {}, {})", items[0], end, step);
  return items[0] == 0 ? fmt::format("range({})", end) : fmt::format("range({}, {})", items[0], end);
}

std::vector<DiagnosticNote> one_assignment_each(const ast::Statement& statement,
                                                const ast::Assignment& assignment) {
  const auto& targets = assignment.targets;
  for (const ast::ExprPtr& target : targets) {
    if (!ast::name_of(*target)) return {};
  }
  // The last of them takes the value, the others take its.
  std::vector<DiagnosticNote> notes{
      remove_this({statement.span.file, targets.front()->span.begin, targets.back()->span.begin})};
  for (std::size_t i = targets.size() - 1; i-- > 0;)
    notes.push_back(
        put_below(statement.span, *ast::name_of(*targets[i]) + " = " + *ast::name_of(*targets.back())));
  return notes;
}

std::vector<DiagnosticNote> without_purity(const ast::FunctionDefinition& definition) {
  if (definition.decorators.size() != 1) return {};
  const ast::Expr& decorator = *definition.decorators[0];
  auto* call = decorator.as<ast::Call>();
  if (!call) return {insert_here(decorator.span, "(pure=False)")};
  for (const ast::Argument& argument : call->arguments) {
    if (argument.name == "pure") return {write_here(argument.value->span, "False")};
  }
  if (call->arguments.empty()) return {};
  return {insert_here(call->arguments.back().value->span, ", pure=False")};
}

std::vector<DiagnosticNote> unused_import(std::string_view text, const ast::Statement& statement,
                                          const ast::Import& imported) {
  for (const ast::Import::Bound& bound : imported.bound) {
    if (bound.name == "*" || mentions_word(text, bound.name, statement.span)) return {};
  }
  return {remove_this(statement.span)};
}

std::vector<DiagnosticNote> without_header(std::string_view text, const ast::Statement& statement,
                                           const ast::Block& body) {
  if (body.empty()) return {};
  const Span inside = span_of(body);
  if (inside.begin < statement.span.end ||
      text.substr(statement.span.end, inside.begin - statement.span.end).find('\n') == std::string_view::npos)
    return {};
  return {remove_this(statement.span), unindent_this(inside)};
}

Span span_of(std::span<const ast::Statement> statements) {
  const auto whole = [](const ast::Statement& statement) {
    return statement.whole.known() ? statement.whole : statement.span;
  };
  return {statements.front().span.file, whole(statements.front()).begin, whole(statements.back()).end};
}

bool indexes_a_store(std::span<const ast::Statement> statements, const std::string& name) {
  bool found = false;
  for_each_statement(statements, [&](const ast::Statement& statement) {
    const ast::Expr* target = nullptr;
    if (auto* assignment = statement.as<ast::Assignment>()) target = assignment->targets[0].get();
    if (auto* augmented = statement.as<ast::AugmentedAssignment>()) target = augmented->target.get();
    auto* subscript = target ? target->as<ast::Subscript>() : nullptr;
    if (!subscript) return;
    for (const ast::ExprPtr& item : subscript->items)
      for_each_value_name(*item, [&](const std::string& used) { found = found || used == name; });
  });
  return found;
}

}  // namespace relish
