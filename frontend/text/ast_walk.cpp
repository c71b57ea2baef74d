// Walks over expressions and statements.
#include "frontend/text/ast_walk.h"

namespace relish::ast {

void for_each_expr(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  visit(expr);
  for_each_child(expr, [&](const Expr& inner) { for_each_expr(inner, visit); });
}

void for_each_part(Expr& expr, const std::function<void(ExprPtr&)>& visit) {
  auto one = [&](ExprPtr& inner) {
    if (inner) visit(inner);
  };
  auto all = [&](std::vector<ExprPtr>& items) {
    for (ExprPtr& item : items) one(item);
  };
  auto links = [&](ExprPtr& first, std::vector<Link>& rest) {
    one(first);
    for (Link& link : rest) one(link.operand);
  };
  if (auto* call = expr.as<Call>()) {
    one(call->callee);
    for (Argument& argument : call->arguments) one(argument.value);
  } else if (auto* list = expr.as<ListValue>()) {
    all(list->items);
  } else if (auto* tuple = expr.as<TupleValue>()) {
    all(tuple->items);
  } else if (auto* dict = expr.as<DictValue>()) {
    for (auto& [key, value] : dict->items) {
      one(key);
      one(value);
    }
  } else if (auto* chain = expr.as<Chain>()) {
    links(chain->first, chain->links);
  } else if (auto* comparison = expr.as<Comparison>()) {
    links(comparison->first, comparison->links);
  } else if (auto* logic = expr.as<Logic>()) {
    all(logic->operands);
  } else if (auto* conditional = expr.as<Conditional>()) {
    one(conditional->condition);
    one(conditional->then_value);
    one(conditional->else_value);
  } else if (auto* starred = expr.as<Starred>()) {
    one(starred->value);
  } else if (auto* prefix = expr.as<Prefix>()) {
    one(prefix->operand);
  } else if (auto* attribute = expr.as<Attribute>()) {
    one(attribute->object);
  } else if (auto* subscript = expr.as<Subscript>()) {
    one(subscript->object);
    all(subscript->items);
  } else if (auto* slice = expr.as<Slice>()) {
    one(slice->begin);
    one(slice->end);
    one(slice->step);
  } else if (auto* text = expr.as<FormatString>()) {
    for (FormatPart& part : text->parts) {
      one(part.field);
      for (FormatPart& inner : part.spec_fields) one(inner.field);
    }
  } else if (auto* lambda = expr.as<Lambda>()) {
    for (Parameter& parameter : lambda->parameters) one(parameter.default_value);
    one(lambda->value);
  } else if (auto* comprehension = expr.as<Comprehension>()) {
    for (ComprehensionClause& clause : comprehension->clauses) {
      one(clause.target);
      one(clause.value);
    }
    one(comprehension->key);
    one(comprehension->value);
  }
}

void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  // The parts stay as they are: only what is visited is handed on.
  for_each_part(const_cast<Expr&>(expr), [&](ExprPtr& part) { visit(*part); });
}

namespace {

// `Pointer`: to an expression, or to a block, const or not as the statement is.
template <class Pointer, class Node>
std::vector<Pointer> expressions_in(Node& statement) {
  std::vector<Pointer> result;
  auto add = [&](auto& expr) {
    if (expr) result.push_back(&expr);
  };
  if (auto* node = statement.template as<ExpressionStatement>()) add(node->value);
  if (auto* node = statement.template as<Assignment>()) {
    for (auto& target : node->targets) add(target);
    add(node->annotation);
    add(node->value);
  }
  if (auto* node = statement.template as<AugmentedAssignment>()) {
    add(node->target);
    add(node->value);
  }
  if (auto* node = statement.template as<Assert>()) {
    add(node->condition);
    add(node->message);
  }
  if (auto* node = statement.template as<Return>()) add(node->value);
  if (auto* node = statement.template as<Delete>()) add(node->targets);
  if (auto* node = statement.template as<For>()) {
    add(node->target);
    add(node->iterable);
  }
  if (auto* node = statement.template as<While>()) add(node->condition);
  if (auto* node = statement.template as<If>())
    for (auto& branch : node->branches) add(branch.condition);
  if (auto* node = statement.template as<With>())
    for (auto& item : node->items) add(item.value);
  return result;
}

template <class Pointer, class Node>
std::vector<Pointer> blocks_in(Node& statement) {
  std::vector<Pointer> result;
  if (auto* node = statement.template as<For>()) result.push_back(&node->body);
  if (auto* node = statement.template as<While>()) result.push_back(&node->body);
  if (auto* node = statement.template as<With>()) result.push_back(&node->body);
  if (auto* node = statement.template as<If>()) {
    for (auto& branch : node->branches) result.push_back(&branch.body);
    result.push_back(&node->else_body);
  }
  return result;
}

}  // namespace

std::vector<ExprPtr*> expressions_of(Statement& statement) { return expressions_in<ExprPtr*>(statement); }
std::vector<Block*> blocks_of(Statement& statement) { return blocks_in<Block*>(statement); }
std::vector<const ExprPtr*> expressions_of(const Statement& statement) {
  return expressions_in<const ExprPtr*>(statement);
}
std::vector<const Block*> blocks_of(const Statement& statement) { return blocks_in<const Block*>(statement); }

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
