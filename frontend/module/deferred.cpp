// A walk over the declarations of a text with the names that each refers to, and which of these a statement
// binds; then what refers to a declaration that waits waits too.
#include "frontend/module/deferred.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "frontend/module/module_links.h"
#include "frontend/module/script_checks.h"
#include "frontend/names/binding_names.h"
#include "frontend/text/ast_walk.h"

namespace relish {
namespace {

// How a statement binds a name that may hold a module.
enum class BoundBy : std::uint8_t { Class, Load, Value };

struct BoundName {
  std::vector<std::size_t> at;  // which statements, in order
  BoundBy first;
  std::size_t classes = 0, loads = 0;  // of them
};

// A decorated function or class.
struct Declaration {
  std::size_t at;
  std::string name;
  std::set<std::string> members_of;    // X of X.f
  std::set<std::string> names;         // all that it mentions
  std::optional<std::size_t> read_at;  // when it waits: with the declaration at that place
};

// x.shape: what a tensor says of itself in a function.
bool is_of_values(std::string_view attribute) {
  return attribute == "shape" || attribute == "dtype" || attribute == "ndim" || attribute == "astype";
}

class Walk {
 public:
  explicit Walk(Declaration& into) : into_(into) {}

  void function(const ast::FunctionDefinition& definition) {
    for (const ast::Parameter& parameter : definition.parameters) {
      own_.insert(parameter.name);
      if (parameter.annotation) expression(*parameter.annotation);
    }
    if (definition.result_annotation) expression(*definition.result_annotation);
    block(definition.body);
  }

  void block(const ast::Block& statements) {
    for (const ast::Statement& statement : statements) {
      for_each_bound_name(statement, [&](const std::string& name, Span) { own_.insert(name); });
      if (const auto* inner = statement.as<ast::FunctionDefinition>()) {
        function(*inner);
        continue;
      }
      for (const ast::ExprPtr* expr : ast::expressions_of(statement)) expression(**expr);
      for (const ast::Block* inner : ast::blocks_of(statement)) block(*inner);
    }
  }

  // What the function binds itself is none of the text's.
  void finish() {
    for (const std::string& name : own_) {
      into_.members_of.erase(name);
      into_.names.erase(name);
    }
  }

 private:
  void expression(const ast::Expr& expr) {
    ast::for_each_expr(expr, [&](const ast::Expr& inner) {
      if (const auto* attribute = inner.as<ast::Attribute>()) {
        const std::string* base = ast::name_of(*attribute->object);
        if (base && !is_of_values(attribute->name)) into_.members_of.insert(*base);
      } else if (const std::string* name = ast::name_of(inner)) {
        into_.names.insert(*name);
      }
    });
  }

  Declaration& into_;
  std::set<std::string> own_;
};

class Deferral {
 public:
  Deferral(const ReadOptions& options, const ast::Block& statements) : options_(options) {
    for (std::size_t at = 0; at < statements.size(); ++at) add(statements[at], at);
    const bool any = std::any_of(bindings_.begin(), bindings_.end(),
                                 [&](const auto& name) { return is_made(name.first, statements.size()); });
    if (!any) {
      declarations_.clear();
      by_name_.clear();
    }
    for (Declaration& each : declarations_) walk(each, statements[each.at]);
  }

  // The declarations that wait, by the place where they are read.
  std::map<std::size_t, std::vector<std::size_t>> groups() {
    for (Declaration& each : declarations_) {
      const bool waits = std::any_of(each.members_of.begin(), each.members_of.end(),
                                     [&](const std::string& name) { return is_made(name, each.at); });
      if (waits) each.read_at = each.at;
    }
    const bool any = std::any_of(declarations_.begin(), declarations_.end(),
                                 [](const Declaration& each) { return each.read_at.has_value(); });
    if (any) read_callers_too();
    std::map<std::size_t, std::vector<std::size_t>> result;
    for (const Declaration& each : declarations_)
      if (each.read_at) result[*each.read_at].push_back(each.at);
    return result;
  }

 private:
  // Who calls one that waits is read with it, or behind it: at the last place of all that wait and that it
  // reaches by calls.
  void read_callers_too() {
    std::vector<std::vector<std::size_t>> callers(declarations_.size());
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      for (const std::string& name : declarations_[i].names) {
        const Declaration* callee = meant(name, declarations_[i].at);
        if (callee && callee != &declarations_[i])
          callers[static_cast<std::size_t>(callee - declarations_.data())].push_back(i);
      }
    }
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < declarations_.size(); ++i)
      if (declarations_[i].read_at) waiting.push_back(i);
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      for (const std::size_t caller : callers[waiting[next]]) {
        if (declarations_[caller].read_at) continue;
        declarations_[caller].read_at = declarations_[caller].at;
        waiting.push_back(caller);
      }
    }
    // The last ones first: what reaches one of them has its place then, and is done.
    std::sort(waiting.begin(), waiting.end(), std::greater<>());
    std::vector<bool> placed(declarations_.size(), false);
    for (const std::size_t last : waiting) {
      if (placed[last]) continue;
      placed[last] = true;
      std::vector<std::size_t> reached = {last};
      for (std::size_t next = 0; next < reached.size(); ++next) {
        declarations_[reached[next]].read_at = declarations_[last].at;
        for (const std::size_t caller : callers[reached[next]]) {
          if (placed[caller]) continue;
          placed[caller] = true;
          reached.push_back(caller);
        }
      }
    }
  }

  void add(const ast::Statement& statement, std::size_t at) {
    const auto* function = statement.as<ast::FunctionDefinition>();
    if (const auto* module = statement.as<ast::ClassDefinition>()) {
      bind(module->name, at, BoundBy::Class);
      declare(at, module->name);
    } else if (function && !is_script_function(statement)) {
      declare(at, function->name);
    } else if (const auto* assignment = statement.as<ast::Assignment>()) {
      const bool one = assignment->targets.size() == 1 && ast::name_of(*assignment->targets[0]);
      const bool loads = one && assignment->value && loaded_program_path(*assignment->value);
      if (loads || !one || (assignment->value && may_be_module(*assignment->value)))
        bind(statement, at, loads ? BoundBy::Load : BoundBy::Value);
    } else if (!function) {
      bind(statement, at, BoundBy::Value);
    }
  }

  // Whether the value can be a module: what is plainly something else is not waited for, so that a function
  // that uses it is told so when the text is read.
  bool may_be_module(const ast::Expr& value) const {
    if (value.as<ast::Name>() || value.as<ast::Subscript>()) return true;
    if (const auto* choice = value.as<ast::Conditional>())
      return may_be_module(*choice->then_value) || may_be_module(*choice->else_value);
    const auto* call = value.as<ast::Call>();
    const std::string callee = call ? ast::dotted_name(*call->callee) : std::string();
    if (callee.empty() || callee.starts_with("relish.")) return !callee.empty();
    const bool plain = callee.find('.') == std::string::npos && !by_name_.contains(callee);
    return plain && !(options_.makes_no_module && options_.makes_no_module(callee));
  }

  // What the functions of a declaration mention.
  static void walk(Declaration& into, const ast::Statement& statement) {
    if (const auto* function = statement.as<ast::FunctionDefinition>()) {
      Walk walk(into);
      walk.function(*function);
      walk.finish();
      return;
    }
    const auto& module = *statement.as<ast::ClassDefinition>();
    for (const ast::Statement& inner : module.body) {
      const auto* member = inner.as<ast::FunctionDefinition>();
      if (!member) continue;
      Declaration own{into.at, into.name, {}, {}, {}};
      Walk walk(own);
      walk.function(*member);
      walk.finish();
      into.members_of.insert(own.members_of.begin(), own.members_of.end());
    }
    // Its own functions are found in it, and no others but those of modules.
    into.members_of.erase(module.name);
    into.names = into.members_of;
  }

  void declare(std::size_t at, const std::string& name) {
    by_name_[name].push_back(declarations_.size());
    declarations_.push_back({at, name, {}, {}, {}});
  }

  void bind(const ast::Statement& statement, std::size_t at, BoundBy how) {
    for_each_bound_name(statement, [&](const std::string& name, Span) { bind(name, at, how); });
  }
  void bind(const std::string& name, std::size_t at, BoundBy how) {
    BoundName& bound = bindings_.try_emplace(name, BoundName{{}, how}).first->second;
    bound.at.push_back(at);
    bound.classes += how == BoundBy::Class;
    bound.loads += how == BoundBy::Load;
  }

  // Whether what the name holds at a place is known only when the statements before it have run. One class or
  // one loaded file is known when the text is read.
  bool is_made(const std::string& name, std::size_t at) const {
    const auto found = bindings_.find(name);
    if (found == bindings_.end()) return false;
    const BoundName& bound = found->second;
    const auto above = std::lower_bound(bound.at.begin(), bound.at.end(), at) - bound.at.begin();
    if (above == 0) return false;
    if (above == 1 && bound.first == BoundBy::Class && bound.classes == 1) return false;
    return above > 1 || bound.first != BoundBy::Load || bound.loads > 1 || bound.classes > 0;
  }

  // The declaration that a name means at a place: the nearest above, else the first.
  const Declaration* meant(const std::string& name, std::size_t at) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    const std::vector<std::size_t>& all = found->second;
    const auto behind = std::lower_bound(
        all.begin(), all.end(), at,
        [&](std::size_t index, std::size_t place) { return declarations_[index].at < place; });
    return &declarations_[behind == all.begin() ? all.front() : *std::prev(behind)];
  }

  const ReadOptions& options_;
  std::vector<Declaration> declarations_;
  std::map<std::string, std::vector<std::size_t>> by_name_;  // of `declarations_`
  std::map<std::string, BoundName> bindings_;
};

}  // namespace

void defer_declarations(const ReadOptions& options, ast::Block& statements,
                        std::shared_ptr<const DeferredFacts> facts) {
  for (const auto& [at, members] : Deferral(options, statements).groups()) {
    ast::Deferred group;
    group.facts = facts;
    for (const std::size_t member : members) {
      ast::Statement& statement = statements[member];
      const auto* function = statement.as<ast::FunctionDefinition>();
      const std::string name = function ? function->name : statement.as<ast::ClassDefinition>()->name;
      // Its place in the text keeps its name and its lines.
      ast::Statement rest{statement.span, ast::Deferred{{name}, {}, nullptr}, statement.comments,
                          statement.whole, statement.comments_above};
      group.definitions.push_back(std::exchange(statement, std::move(rest)));
    }
    statements[at].as<ast::Deferred>()->definitions = std::move(group.definitions);
    statements[at].as<ast::Deferred>()->facts = std::move(group.facts);
  }
}

}  // namespace relish
