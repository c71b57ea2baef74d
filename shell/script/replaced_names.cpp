// Looking for names among targets.
#include "shell/script/replaced_names.h"

#include <algorithm>

namespace relish {
namespace {

const std::vector<ast::ExprPtr>* items_of_target(const ast::Expr& target) {
  if (const auto* tuple = target.as<ast::TupleValue>()) return &tuple->items;
  if (const auto* list = target.as<ast::ListValue>()) return &list->items;
  return nullptr;
}

// An item, as xs[i] is, is found by names behind the call, which must have their values still.
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
  const auto& targets = assignment.targets;
  return std::all_of(targets.begin(), targets.end(),
                     [](const ast::ExprPtr& target) { return holds_names_only(*target); }) &&
         std::any_of(targets.begin(), targets.end(),
                     [&](const ast::ExprPtr& target) { return binds(*target, argument.id); });
}

}  // namespace relish
