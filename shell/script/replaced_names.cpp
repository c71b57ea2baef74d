// Looking for names among targets and arguments.
#include "shell/script/replaced_names.h"

#include <algorithm>

#include "frontend/text/ast_walk.h"

namespace relish {
namespace {

const std::vector<ast::ExprPtr>* items_of_target(const ast::Expr& target) {
  if (const auto* tuple = target.as<ast::TupleValue>()) return &tuple->items;
  if (const auto* list = target.as<ast::ListValue>()) return &list->items;
  return nullptr;
}

// What is bound may be looked at only behind the call: an item, as xs[i] is, is found by names.
bool holds_names_only(const ast::Expr& target) {
  if (target.as<ast::Name>()) return true;
  const std::vector<ast::ExprPtr>* items = items_of_target(target);
  return items && std::all_of(items->begin(), items->end(),
                              [](const ast::ExprPtr& item) { return holds_names_only(*item); });
}

bool binds(const ast::Expr& target, const std::string& id) {
  if (const auto* name = target.as<ast::Name>()) return name->id == id;
  const std::vector<ast::ExprPtr>* items = items_of_target(target);
  return items && std::any_of(items->begin(), items->end(),
                              [&](const ast::ExprPtr& item) { return binds(*item, id); });
}

}  // namespace

bool is_replaced(const ast::Assignment& assignment, const ast::Name& argument) {
  bool bound = false;
  for (const ast::ExprPtr& target : assignment.targets) {
    if (!holds_names_only(*target)) return false;
    bound = bound || binds(*target, argument.id);
  }
  if (!bound) return false;
  int mentions = 0;
  ast::for_each_expr(*assignment.value, [&](const ast::Expr& expr) {
    const auto* name = expr.as<ast::Name>();
    if (name && name->id == argument.id) ++mentions;
  });
  return mentions == 1;
}

}  // namespace relish
