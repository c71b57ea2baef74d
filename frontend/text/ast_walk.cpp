// Walks over expressions and statements.
#include "frontend/text/ast_walk.h"

namespace relish::ast {

void for_each_expr(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  visit(expr);
  for_each_child(expr, [&](const Expr& inner) { for_each_expr(inner, visit); });
}

void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  auto one = [&](const ExprPtr& inner) {
    if (inner) visit(*inner);
  };
  auto all = [&](const std::vector<ExprPtr>& items) {
    for (const ExprPtr& item : items) one(item);
  };
  auto links = [&](const ExprPtr& first, const std::vector<Link>& rest) {
    one(first);
    for (const Link& link : rest) one(link.operand);
  };
  if (const auto* call = expr.as<Call>()) {
    one(call->callee);
    for (const Argument& argument : call->arguments) one(argument.value);
  } else if (const auto* list = expr.as<ListValue>()) {
    all(list->items);
  } else if (const auto* tuple = expr.as<TupleValue>()) {
    all(tuple->items);
  } else if (const auto* dict = expr.as<DictValue>()) {
    for (const auto& [key, value] : dict->items) {
      one(key);
      one(value);
    }
  } else if (const auto* chain = expr.as<Chain>()) {
    links(chain->first, chain->links);
  } else if (const auto* comparison = expr.as<Comparison>()) {
    links(comparison->first, comparison->links);
  } else if (const auto* logic = expr.as<Logic>()) {
    all(logic->operands);
  } else if (const auto* conditional = expr.as<Conditional>()) {
    one(conditional->condition);
    one(conditional->then_value);
    one(conditional->else_value);
  } else if (const auto* starred = expr.as<Starred>()) {
    one(starred->value);
  } else if (const auto* prefix = expr.as<Prefix>()) {
    one(prefix->operand);
  } else if (const auto* attribute = expr.as<Attribute>()) {
    one(attribute->object);
  } else if (const auto* subscript = expr.as<Subscript>()) {
    one(subscript->object);
    all(subscript->items);
  } else if (const auto* slice = expr.as<Slice>()) {
    one(slice->begin);
    one(slice->end);
    one(slice->step);
  } else if (const auto* text = expr.as<FormatString>()) {
    for (const FormatPart& part : text->parts) {
      one(part.field);
      for (const FormatPart& inner : part.spec_fields) one(inner.field);
    }
  } else if (const auto* lambda = expr.as<Lambda>()) {
    for (const Parameter& parameter : lambda->parameters) one(parameter.default_value);
    one(lambda->value);
  } else if (const auto* comprehension = expr.as<Comprehension>()) {
    for (const ComprehensionClause& clause : comprehension->clauses) {
      one(clause.target);
      one(clause.value);
    }
    one(comprehension->key);
    one(comprehension->value);
  }
}

std::vector<const Expr*> own_expressions(const Statement& statement) {
  std::vector<const Expr*> result;
  auto add = [&](const ExprPtr& expr) {
    if (expr) result.push_back(expr.get());
  };
  if (const auto* node = statement.as<ExpressionStatement>()) add(node->value);
  if (const auto* node = statement.as<Assignment>()) add(node->value);
  if (const auto* node = statement.as<AugmentedAssignment>()) add(node->value);
  if (const auto* node = statement.as<Assert>()) {
    add(node->condition);
    add(node->message);
  }
  if (const auto* node = statement.as<For>()) add(node->iterable);
  if (const auto* node = statement.as<While>()) add(node->condition);
  if (const auto* node = statement.as<If>()) {
    for (const Branch& branch : node->branches) add(branch.condition);
  }
  if (const auto* node = statement.as<Return>()) add(node->value);
  if (const auto* node = statement.as<FunctionDefinition>()) {
    for (const Parameter& parameter : node->parameters) add(parameter.default_value);
  }
  return result;
}

std::vector<const Block*> inner_blocks(const Statement& statement) {
  std::vector<const Block*> result;
  if (const auto* node = statement.as<For>()) result.push_back(&node->body);
  if (const auto* node = statement.as<While>()) result.push_back(&node->body);
  if (const auto* node = statement.as<If>()) {
    for (const Branch& branch : node->branches) result.push_back(&branch.body);
    result.push_back(&node->else_body);
  }
  return result;
}

}  // namespace relish::ast
