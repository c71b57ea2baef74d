// Refusals of script statements by name, with the nearest thing that there is.
#include "frontend/module/script_checks.h"

#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "frontend/text/ast_walk.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> alternatives = {{
    {"a generator", "write a list: [value for name in values]"},
    {"a set", "write a list or a dict"},
}};

class ScriptCheck {
 public:
  explicit ScriptCheck(ReadContext& context) : context_(context) {}

  // Where a block stands.
  struct Place {
    bool loop = false;
    bool function = false;
  };

  void check(const ast::Block& block, Place place) {
    for (const ast::Statement& statement : block) check(statement, place);
  }

 private:
  void refuse(Span span, std::string_view id, std::string message,
              ErrorClass error_class = ErrorClass::Syntax) {
    context_.diagnostics.error(error_class, span, id, std::move(message));
    context_.unresolved = true;
  }

  void check(const ast::Statement& statement, Place place) {
    const Span span = statement.span;
    if (auto* function = statement.as<ast::FunctionDefinition>(); function && function->decorators.empty()) {
      check_function(*function);
    } else if (function || statement.as<ast::ClassDefinition>()) {
      refuse(span, "refused.nested", "found a declaration inside a statement; expected it at the top level");
    } else if (statement.as<ast::Import>() && place.function) {
      refuse(span, "refused.nested", "found an import inside a function; expected it at the top level");
    } else if (auto* with = statement.as<ast::With>()) {
      refuse(
          span, "refused.with",
          "'with' is not supported in a script; it stands in functions only; files are read by load(path), written "
          "by save(value, path)");
      check(with->body, place);
    } else if (statement.as<ast::Return>()) {
      if (!place.function)
        refuse(span, "script.return", "found 'return' at top level; expected it inside a function");
    } else if (!place.loop && (statement.as<ast::Break>() || statement.as<ast::Continue>())) {
      refuse(span, "script.loop",
             fmt::format("found '{}' outside a loop; expected it in the body of a for or while",
                         statement.as<ast::Break>() ? "break" : "continue"));
    } else if (auto* assignment = statement.as<ast::Assignment>()) {
      if (assignment->annotation) {
        refuse(assignment->annotation->span, "script.annotation",
               "found a type annotation in a script statement; expected NAME = VALUE", ErrorClass::Type);
      }
      for (const ast::ExprPtr& target : assignment->targets) check_target(*target);
    } else if (auto* augmented = statement.as<ast::AugmentedAssignment>()) {
      const ast::Expr& target = *augmented->target;
      if (!ast::name_of(target) && !target.as<ast::Subscript>()) refuse_target(target);
      check_expressions(target);
    } else if (auto* loop = statement.as<ast::For>()) {
      check_target(*loop->target);
    } else if (auto* deleted = statement.as<ast::Delete>()) {
      check_deleted(*deleted->targets);
    }
    for (const ast::Expr* expr : ast::own_expressions(statement)) check_expressions(*expr);
    const bool loop = statement.as<ast::For>() || statement.as<ast::While>();
    for (const ast::Block* block : ast::inner_blocks(statement))
      check(*block, {place.loop || loop, place.function});
  }

  void check_expressions(const ast::Expr& expr) {
    ast::for_each_expr(expr, [&](const ast::Expr& inner) {
      if (auto* unsupported = inner.as<ast::Unsupported>()) {
        refuse(inner.span, "script.unsupported", refusal_of(*unsupported), ErrorClass::Type);
      } else if (auto* hole = inner.as<ast::Hole>()) {
        refuse(inner.span, "hole.value", refusal_of(*hole), ErrorClass::Type);
      } else if (auto* lambda = inner.as<ast::Lambda>()) {
        check_parameters(lambda->parameters);
      } else if (auto* comprehension = inner.as<ast::Comprehension>()) {
        for (const ast::ComprehensionClause& clause : comprehension->clauses)
          if (clause.target) check_target(*clause.target);
      }
    });
  }

  void check_function(const ast::FunctionDefinition& function) {
    if (!function.type_parameters.empty()) {
      refuse(function.type_parameters.front().span, "script.annotation",
             "found type parameters of a script function; it takes values of any type", ErrorClass::Type);
    }
    if (function.result_annotation) refuse_annotation(function.result_annotation->span);
    check_parameters(function.parameters);
    check(function.body, {false, true});
  }

  void refuse_annotation(Span span) {
    refuse(span, "script.annotation",
           "found a type annotation in a script function; expected none, or @R.function above 'def'",
           ErrorClass::Type);
  }

  // Python's order: plain ones, those with a default, *rest or *, then ones by name only, **named.
  void check_parameters(const std::vector<ast::Parameter>& parameters) {
    std::map<std::string_view, Span> seen;
    bool by_name = false, defaults = false, rest_of_names = false;
    for (const ast::Parameter& parameter : parameters) {
      const auto wrong = [&](std::string message) {
        refuse(parameter.span, "script.parameters", std::move(message));
      };
      if (parameter.annotation) refuse_annotation(parameter.annotation->span);
      if (parameter.name == "/") {
        wrong(
            "found '/' among the parameters; expected names: leave it out, every parameter may be given by its name");
        continue;
      }
      if (rest_of_names) wrong(fmt::format("found a parameter behind '**'; expected '**' last"));
      if (parameter.stars == 1) {
        if (by_name) wrong("found a second '*' among the parameters");
        by_name = true;
        if (parameter.name == "*") {
          if (&parameter == &parameters.back()) wrong("found '*' at the end; expected parameters behind it");
          continue;
        }
      }
      rest_of_names |= parameter.stars == 2;
      if (parameter.stars > 0 && parameter.default_value) wrong("found a default of a starred parameter");
      if (parameter.stars == 0) {
        if (defaults && !by_name && !parameter.default_value)
          wrong(fmt::format("'{}' has no default but stands behind one that has", printable(parameter.name)));
        defaults |= parameter.default_value != nullptr;
      }
      if (!seen.emplace(parameter.name, parameter.span).second)
        wrong(fmt::format("found the parameter '{}' twice", printable(parameter.name)));
    }
  }

  void check_target(const ast::Expr& target) {
    const std::vector<ast::ExprPtr>* items = nullptr;
    if (auto* tuple = target.as<ast::TupleValue>()) items = &tuple->items;
    if (auto* list = target.as<ast::ListValue>()) items = &list->items;
    if (items) {
      const ast::Expr* starred = nullptr;
      for (const ast::ExprPtr& item : *items) {
        const auto* rest = item->as<ast::Starred>();
        if (rest && starred) {
          refuse(item->span, "script.target", "found two starred targets; expected one at most",
                 ErrorClass::Type);
        }
        if (rest) starred = item.get();
        check_target(rest ? *rest->value : *item);
      }
    } else if (target.as<ast::Subscript>()) {
      check_expressions(target);
    } else if (!ast::name_of(target)) {
      refuse_target(target);
    }
  }

  void check_deleted(const ast::Expr& target) {
    if (auto* tuple = target.as<ast::TupleValue>()) {
      for (const ast::ExprPtr& item : tuple->items) check_deleted(*item);
    } else if (target.as<ast::Subscript>()) {
      check_expressions(target);
    } else if (!ast::name_of(target)) {
      refuse(target.span, "script.target",
             fmt::format("cannot unbind {}; expected a name or an item", ast::describe(target)),
             ErrorClass::Type);
    }
  }

  void refuse_target(const ast::Expr& target) {
    const bool several = target.as<ast::TupleValue>() || target.as<ast::ListValue>();
    refuse(target.span, "script.target",
           fmt::format("cannot assign to {}; expected {}", ast::describe(target),
                       several ? "one name or item" : "a name, or an item such as xs[i]"),
           ErrorClass::Type);
  }

  ReadContext& context_;
};

}  // namespace

void check_script(ReadContext& context, const ast::Block& statements) {
  ScriptCheck(context).check(statements, ScriptCheck::Place());
}

bool is_script_function(const ast::Statement& statement) {
  const auto* function = statement.as<ast::FunctionDefinition>();
  return function && function->decorators.empty();
}

std::string refusal_of(const ast::Hole& hole) {
  return fmt::format("found the hole '?{}' in a statement; expected a value, as holes stand in R.functions",
                     printable(hole.id));
}

std::string refusal_of(const ast::Unsupported& expression) {
  std::string_view advice = "write a loop or a function";
  for (auto [what, alternative] : alternatives) {
    if (expression.what == what) advice = alternative;
  }
  return fmt::format("{} is not part of the language; {}", printable(expression.what), advice);
}

}  // namespace relish
