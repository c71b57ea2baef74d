// In the order of the text; in loops and branches as far as all rounds and ways agree.
#include "shell/repl/faults/statement_check.h"

#include "frontend/text/ast_walk.h"
#include "shell/repl/faults/expression_check.h"
#include "shell/workspace/workspace.h"

namespace relish {
namespace {

class StatementCheck {
 public:
  StatementCheck(Workspace& workspace, const ReadResult& read, bool sound,
                 const std::function<bool()>& goes_on,
                 const std::function<void(Span, const std::string&)>& tell)
      : read_(read), sound_(sound), goes_on_(goes_on), expressions_(workspace, read.namespaces, tell) {
    names().declare(read.script);
  }

  void check(const ast::Block& block) {
    for (const ast::Statement& statement : block) {
      if (goes_on_ && !goes_on_()) fail(ErrorClass::Interrupted, {}, "", "a key came");
      check(statement);
    }
  }

 private:
  TextNames& names() { return expressions_.names(); }

  void check(const ast::Statement& statement) {
    if (const auto* assignment = statement.as<ast::Assignment>()) return check_assignment(*assignment);
    if (const auto* augmented = statement.as<ast::AugmentedAssignment>())
      return check_augmented(*augmented, statement.span);
    if (const auto* deleted = statement.as<ast::Delete>()) return check_delete(*deleted->targets);
    if (const auto* function = statement.as<ast::FunctionDefinition>()) return check_function(*function);
    if (const auto* branches = statement.as<ast::If>()) return check_if(*branches);
    if (const auto* loop = statement.as<ast::For>()) return check_for(*loop);
    if (const auto* loop = statement.as<ast::While>()) {
      expressions_.value_of(*loop->condition);
      return check_rounds(loop->body);
    }
    if (const auto* module = statement.as<ast::DeclareModule>(); module && sound_)
      return names().bind(module->module->name, ScriptValue(module->module));
    if (const auto* function = statement.as<ast::DeclareFunction>(); function && sound_) {
      const std::string& name = name_of(function->function);
      if (read_.free_functions && read_.free_functions->find(name))
        names().bind(name, ScriptValue(FunctionReference{read_.free_functions, name}));
      return;
    }
    for (const ast::Expr* expr : ast::own_expressions(statement)) expressions_.value_of(*expr);
  }

  void check_assignment(const ast::Assignment& assignment) {
    const auto value = assignment.value ? expressions_.value_of(*assignment.value) : std::nullopt;
    for (const ast::ExprPtr& target : assignment.targets) {
      check_target(*target);
      names().bind_target(*target, value);
    }
  }

  // x[i] = v changes what x holds.
  void check_target(const ast::Expr& target) {
    const auto* item = target.as<ast::Subscript>();
    if (!item) return;
    expressions_.value_of(target);
    const ast::Expr* root = &target;
    while (const auto* inner = root->as<ast::Subscript>()) root = inner->object.get();
    const std::string* name = ast::name_of(*root);
    const auto held = name && !names().is_local(*name) ? names().value(*name) : std::nullopt;
    if (held && !held->tensor()) names().bind(*name);
  }

  void check_augmented(const ast::AugmentedAssignment& augmented, Span span) {
    const auto before = expressions_.value_of(*augmented.target);
    const auto operand = expressions_.value_of(*augmented.value);
    const auto after = expressions_.value_between(augmented.op, before, operand, span);
    check_target(*augmented.target);
    names().bind_target(*augmented.target, after);
  }

  void check_delete(const ast::Expr& target) {
    if (const auto* tuple = target.as<ast::TupleValue>()) {
      for (const ast::ExprPtr& item : tuple->items) check_delete(*item);
      return;
    }
    expressions_.value_of(target);
    check_target(target);
    if (const std::string* name = ast::name_of(target)) names().remove(*name);
  }

  void check_function(const ast::FunctionDefinition& function) {
    for (const ast::Parameter& parameter : function.parameters)
      if (parameter.default_value) expressions_.value_of(*parameter.default_value);
    names().bind(function.name);
    const TextNames::Inside inside(names(), true);
    expressions_.check_parameters(function.parameters);
    names().bind_locals(function.body);
    check(function.body);
  }

  void check_if(const ast::If& statement) {
    const TextNames before = names();
    const auto check_way = [&](const ast::Block& block) {
      names().take(before);
      check(block);
    };
    for (const ast::Branch& branch : statement.branches) {
      names().take(before);
      expressions_.value_of(*branch.condition);
      check_way(branch.body);
    }
    check_way(statement.else_body);
    names().take(before);
    for (const ast::Branch& branch : statement.branches) names().forget(branch.body);
    names().forget(statement.else_body);
  }

  void check_for(const ast::For& loop) {
    expressions_.value_of(*loop.iterable);
    names().bind_target(*loop.target, std::nullopt);
    check_rounds(loop.body);
  }

  // A later round sees what an earlier one bound.
  void check_rounds(const ast::Block& body) {
    names().forget(body);
    check(body);
    names().forget(body);
  }

  const ReadResult& read_;
  bool sound_;
  const std::function<bool()>& goes_on_;
  ExpressionCheck expressions_;
};

}  // namespace

void check_statements(Workspace& workspace, const ReadResult& read, bool sound,
                      const std::function<bool()>& goes_on,
                      const std::function<void(Span, const std::string&)>& tell) {
  StatementCheck(workspace, read, sound, goes_on, tell).check(read.script);
}

}  // namespace relish
