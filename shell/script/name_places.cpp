// A walk over the text with the names of each function and comprehension on the way. What a name is stays
// open until the function that binds it is done: only then it is known whether an inner function uses it.
#include "shell/script/name_places.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/names/binding_names.h"
#include "frontend/text/ast_walk.h"

namespace relish {
namespace {

using ast::NamePlace;

// A name that a function or one of its comprehensions binds, or one of a function around it.
struct Variable {
  std::string name;
  Variable* source = nullptr;  // in the function around, when it is of that
  bool shared = false;         // an inner function uses it
  NamePlace place = {};
  std::vector<NamePlace*> uses = {};
  std::vector<std::uint32_t*> inner = {};  // where inner functions note its cell
};

// A function, or the statements of a text.
struct Level {
  Level* around = nullptr;
  bool top = false;
  std::deque<Variable> variables = {};
  // Of the function, and of the comprehensions that are being walked.
  std::vector<std::unordered_map<std::string_view, Variable*>> blocks = {};
  std::unordered_map<std::string_view, Variable*> outer = {};

  Variable* add(const std::string& name) {
    auto& block = blocks.back();
    if (const auto found = block.find(name); found != block.end()) return found->second;
    variables.push_back({name});
    block.emplace(variables.back().name, &variables.back());
    return &variables.back();
  }

  // Null: a name of the script.
  Variable* find(const std::string& name) {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      if (const auto found = block->find(name); found != block->end()) return found->second;
    if (const auto found = outer.find(name); found != outer.end()) return found->second;
    Variable* source = around ? around->find(name) : nullptr;
    if (!source) return nullptr;
    source->shared = true;
    variables.push_back({name, source});
    outer.emplace(variables.back().name, &variables.back());
    return &variables.back();
  }
};

class PlaceFinder {
 public:
  explicit PlaceFinder(Environment& environment) : environment_(environment) {
    top_.top = true;
    top_.blocks.emplace_back();
    level_ = &top_;
  }

  void block(const ast::Block& statements) {
    for (const ast::Statement& statement : statements) this->statement(statement);
  }

  void expression(const ast::Expr& expr) {
    if (const auto* name = expr.as<ast::Name>()) {
      use(name->id, name->place);
    } else if (const auto* lambda = expr.as<ast::Lambda>()) {
      defaults(lambda->parameters);
      lambda->scope = function(lambda->parameters, nullptr, lambda->value.get());
    } else if (const auto* comprehension = expr.as<ast::Comprehension>()) {
      this->comprehension(*comprehension);
    } else {
      ast::for_each_child(expr, [&](const ast::Expr& inner) { expression(inner); });
    }
  }

  std::shared_ptr<const ast::Scope> finish() { return finish(top_); }

 private:
  void statement(const ast::Statement& statement) {
    if (const auto* definition = statement.as<ast::FunctionDefinition>()) {
      defaults(definition->parameters);
      use(definition->name, definition->place);
      definition->scope = function(definition->parameters, &definition->body, nullptr);
      return;
    }
    for (const ast::Expr* expr : ast::own_expressions(statement)) expression(*expr);
    if (const auto* node = statement.as<ast::Assignment>()) {
      for (const ast::ExprPtr& target : node->targets) expression(*target);
    } else if (const auto* node = statement.as<ast::AugmentedAssignment>()) {
      expression(*node->target);
    } else if (const auto* node = statement.as<ast::For>()) {
      expression(*node->target);
    } else if (const auto* node = statement.as<ast::Delete>()) {
      expression(*node->targets);
    }
    for (const ast::Block* inner : ast::inner_blocks(statement)) block(*inner);
  }

  void defaults(const std::vector<ast::Parameter>& parameters) {
    for (const ast::Parameter& parameter : parameters)
      if (parameter.default_value) expression(*parameter.default_value);
  }

  void use(const std::string& name, NamePlace& place) {
    if (Variable* variable = level_->find(name)) {
      variable->uses.push_back(&place);
    } else {
      place = {NamePlace::Kind::Script, environment_.place_of(name), environment_.number()};
      if (!level_->top) environment_.note_seen_by_functions(place.index);
    }
  }

  std::shared_ptr<const ast::Scope> function(const std::vector<ast::Parameter>& parameters,
                                             const ast::Block* body, const ast::Expr* value) {
    Level level;
    level.around = level_;
    level.blocks.emplace_back();
    level_ = &level;
    auto scope = std::make_shared<ast::Scope>();
    scope->places.resize(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name != "*") level.add(parameters[i].name)->uses.push_back(&scope->places[i]);
    if (body) {
      for (const ast::Statement& statement : *body) {
        for_each_bound_name(statement, [&](const std::string& name, Span) { level.add(name); });
        bind_deleted(statement);
      }
      block(*body);
    } else {
      expression(*value);
    }
    level_ = level.around;
    return finish(level, std::move(scope));
  }

  // `del x` makes x a name of the function, as an assignment does.
  void bind_deleted(const ast::Statement& statement) {
    if (const auto* node = statement.as<ast::Delete>()) bind_target(*node->targets);
    for (const ast::Block* inner : ast::inner_blocks(statement))
      for (const ast::Statement& each : *inner) bind_deleted(each);
  }

  void comprehension(const ast::Comprehension& comprehension) {
    // What the first `for` goes over belongs to what stands around.
    expression(*comprehension.clauses.front().value);
    level_->blocks.emplace_back();
    for (const ast::ComprehensionClause& clause : comprehension.clauses)
      if (clause.target) bind_target(*clause.target);
    auto scope = std::make_shared<ast::Scope>();
    auto& names = level_->blocks.back();
    scope->places.resize(names.size());
    std::size_t next = 0;
    for (const auto& [name, variable] : names) variable->uses.push_back(&scope->places[next++]);
    for (const ast::ComprehensionClause& clause : comprehension.clauses) {
      if (&clause != &comprehension.clauses.front()) expression(*clause.value);
      if (clause.target) expression(*clause.target);
    }
    if (comprehension.key) expression(*comprehension.key);
    expression(*comprehension.value);
    level_->blocks.pop_back();
    comprehension.scope = std::move(scope);
  }

  void bind_target(const ast::Expr& target) {
    if (const std::string* name = ast::name_of(target)) {
      level_->add(*name);
    } else if (!target.as<ast::Subscript>()) {
      ast::for_each_child(target, [&](const ast::Expr& inner) { bind_target(inner); });
    }
  }

  static std::shared_ptr<const ast::Scope> finish(Level& level, std::shared_ptr<ast::Scope> scope = {}) {
    if (!scope) scope = std::make_shared<ast::Scope>();
    const auto settle = [](Variable& variable, NamePlace::Kind kind, std::size_t index) {
      variable.place = {kind, static_cast<std::uint32_t>(index), 0};
      for (NamePlace* use : variable.uses) *use = variable.place;
      for (std::uint32_t* cell : variable.inner) *cell = variable.place.index;
    };
    for (Variable& variable : level.variables) {
      if (variable.source || !variable.shared) continue;
      settle(variable, NamePlace::Kind::Cell, scope->cells.size());
      scope->cells.push_back(variable.name);
    }
    scope->own_cells = scope->cells.size();
    std::vector<Variable*> captured;
    for (Variable& variable : level.variables) {
      if (variable.source) {
        settle(variable, NamePlace::Kind::Cell, scope->cells.size());
        scope->cells.push_back(variable.name);
        captured.push_back(&variable);
      } else if (!variable.shared) {
        settle(variable, NamePlace::Kind::Local, scope->slots.size());
        scope->slots.push_back(variable.name);
      }
    }
    scope->captured.resize(captured.size());
    for (std::size_t i = 0; i < captured.size(); ++i)
      captured[i]->source->inner.push_back(&scope->captured[i]);
    return scope;
  }

  Environment& environment_;
  Level top_;
  Level* level_;
};

}  // namespace

std::shared_ptr<const ast::Scope> find_places(const ast::Block& statements, Environment& environment) {
  PlaceFinder finder(environment);
  finder.block(statements);
  return finder.finish();
}

std::shared_ptr<const ast::Scope> find_places(const ast::Expr& expr, Environment& environment) {
  PlaceFinder finder(environment);
  finder.expression(expr);
  return finder.finish();
}

}  // namespace relish
