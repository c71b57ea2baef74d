// Refusals of script statements by name, with the nearest thing that there is.
#include "frontend/module/script_checks.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "frontend/text/ast_walk.h"
#include "support/render.h"

namespace relish {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> alternatives = {{
    {"a lambda", "write an R.function"},
    {"a comprehension", "build the list in a for loop: xs = xs + [value]"},
    {"a set", "write a list or a dict"},
    {"'...'", "write the dimensions out: x[:, 0]"},
}};

class ScriptCheck {
 public:
  explicit ScriptCheck(ReadContext& context) : context_(context) {}

  void check(const ast::Block& block, bool in_loop) {
    for (const ast::Statement& statement : block) check(statement, in_loop);
  }

 private:
  void refuse(Span span, std::string_view id, std::string message,
              ErrorClass error_class = ErrorClass::Syntax) {
    context_.diagnostics.error(error_class, span, id, std::move(message));
    context_.unresolved = true;
  }

  void check(const ast::Statement& statement, bool in_loop) {
    const Span span = statement.span;
    if (statement.as<ast::FunctionDefinition>() || statement.as<ast::ClassDefinition>()) {
      refuse(span, "refused.nested", "found a definition inside a statement; expected it at the top level");
    } else if (auto* with = statement.as<ast::With>()) {
      refuse(span, "refused.with", "'with' is not supported in a script; it stands in functions only");
      check(with->body, in_loop);
    } else if (statement.as<ast::Return>()) {
      refuse(span, "script.return", "found 'return' at top level; expected it inside a function");
    } else if (!in_loop && (statement.as<ast::Break>() || statement.as<ast::Continue>())) {
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
      if (!ast::name_of(*augmented->target)) refuse_target(*augmented->target);
    } else if (auto* loop = statement.as<ast::For>()) {
      check_target(*loop->target);
    }
    for (const ast::Expr* expr : ast::own_expressions(statement)) {
      ast::for_each_expr(*expr, [&](const ast::Expr& inner) {
        auto* unsupported = inner.as<ast::Unsupported>();
        if (unsupported) refuse(inner.span, "script.unsupported", refusal_of(*unsupported), ErrorClass::Type);
      });
    }
    bool loop = statement.as<ast::For>() || statement.as<ast::While>();
    for (const ast::Block* block : ast::inner_blocks(statement)) check(*block, in_loop || loop);
  }

  void check_target(const ast::Expr& target) {
    const std::vector<ast::ExprPtr>* items = nullptr;
    if (auto* tuple = target.as<ast::TupleValue>()) items = &tuple->items;
    if (auto* list = target.as<ast::ListValue>()) items = &list->items;
    if (items) {
      for (const ast::ExprPtr& item : *items) check_target(*item);
    } else if (!ast::name_of(target)) {
      refuse_target(target);
    }
  }

  void refuse_target(const ast::Expr& target) {
    std::string hint = target.as<ast::Subscript>() ? "; values are immutable, make a new one" : "";
    refuse(target.span, "script.target",
           fmt::format("cannot assign to {}; expected a name{}", ast::describe(target), hint),
           ErrorClass::Type);
  }

  ReadContext& context_;
};

}  // namespace

void check_script(ReadContext& context, const ast::Block& statements) {
  ScriptCheck(context).check(statements, false);
}

std::string refusal_of(const ast::Unsupported& expression) {
  std::string_view advice = "write a loop or an R.function";
  for (auto [what, alternative] : alternatives) {
    if (expression.what == what) advice = alternative;
  }
  return fmt::format("{} is not part of the language; {}", printable(expression.what), advice);
}

}  // namespace relish
