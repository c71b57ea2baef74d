// Conversion of ANTLR contexts of statements and headers, rule by rule in the order of the grammar.
#include "frontend/text/statement_converter.h"

#include <utility>

#include "frontend/text/tree_nodes.h"

namespace relish {

using Parser = grammar::RelishParser;

ast::Statement StatementConverter::simple(Parser::SimpleStatementContext* tree) {
  if (rule_of(tree->children[0])->getRuleIndex() == Parser::RuleAssignment) {
    return assignment(child<Parser::AssignmentContext>(tree, 0));
  }
  ast::Statement statement{line_.span_of(tree), ast::Pass{}, nullptr, {}};
  if (tree->breakStatement()) statement.kind = ast::Break{};
  if (tree->continueStatement()) statement.kind = ast::Continue{};
  if (auto* returned = tree->returnStatement()) {
    statement.kind = ast::Return{
        returned->expressionList() ? exprs_.expression_list(returned->expressionList()) : nullptr};
  }
  if (auto* asserted = tree->assertStatement()) {
    ast::ExprPtr condition = exprs_.expression(asserted->expression(0));
    ast::ExprPtr message = asserted->COMMA() ? exprs_.expression(asserted->expression(1)) : nullptr;
    statement.kind = ast::Assert{std::move(condition), std::move(message)};
  }
  if (auto* deleted = tree->delStatement())
    statement.kind = ast::Delete{exprs_.expression_list(deleted->expressionList())};
  if (auto* imported = tree->importStatement()) statement.kind = import(imported);
  return statement;
}

ast::Import StatementConverter::import(Parser::ImportStatementContext* tree) {
  ast::Import result;
  auto dotted = [&](Parser::DottedNameContext* name) {
    return std::string(line_.text_of(line_.span_of(name)));
  };
  for (auto* module : tree->importedModule()) {
    std::string target = dotted(module->dottedName());
    std::string bound = target;
    if (auto* as = module->NAME()) {
      bound = line_.text_of(as->getSymbol());
    } else {
      // `import tvm.script` binds `tvm`.
      bound = target.substr(0, target.find('.'));
      target = bound;
    }
    result.bound.push_back({bound, target, line_.span_of(module)});
  }
  if (!tree->FROM()) return result;
  std::string from = dotted(tree->dottedName());
  if (!tree->importedNames()) {
    result.everything = true;
    result.bound.push_back({"*", from, line_.span_of(tree)});
    return result;
  }
  for (auto* name : tree->importedNames()->importedName()) {
    std::string imported(line_.text_of(name->NAME(0)->getSymbol()));
    std::string bound = name->AS() ? std::string(line_.text_of(name->NAME(1)->getSymbol())) : imported;
    result.bound.push_back({bound, from + "." + imported, line_.span_of(name)});
  }
  return result;
}

ast::Statement StatementConverter::assignment(Parser::AssignmentContext* tree) {
  ast::Statement statement{line_.span_of(tree), ast::Pass{}, nullptr, {}};
  using List = Parser::ExpressionListContext;
  if (tree->children.size() == 3 && !is_token(tree->children[1])) {
    ast::Operator op = ast::Operator::Add;
    switch (rule_of(tree->children[1])->start->getType()) {
      case Parser::SUB_ASSIGN:
        op = ast::Operator::Sub;
        break;
      case Parser::MUL_ASSIGN:
        op = ast::Operator::Mul;
        break;
      case Parser::DIV_ASSIGN:
        op = ast::Operator::Div;
        break;
      case Parser::FLOOR_DIV_ASSIGN:
        op = ast::Operator::FloorDiv;
        break;
      case Parser::MOD_ASSIGN:
        op = ast::Operator::Mod;
        break;
      case Parser::POW_ASSIGN:
        op = ast::Operator::Pow;
        break;
      case Parser::AND_ASSIGN:
        op = ast::Operator::BitAnd;
        break;
      case Parser::OR_ASSIGN:
        op = ast::Operator::BitOr;
        break;
      case Parser::XOR_ASSIGN:
        op = ast::Operator::BitXor;
        break;
      case Parser::LEFT_ASSIGN:
        op = ast::Operator::ShiftLeft;
        break;
      case Parser::RIGHT_ASSIGN:
        op = ast::Operator::ShiftRight;
        break;
      case Parser::AT_ASSIGN:
        op = ast::Operator::MatMul;
        break;
      default:
        break;
    }
    ast::ExprPtr target = exprs_.expression_list(child<List>(tree, 0));
    statement.kind =
        ast::AugmentedAssignment{std::move(target), op, exprs_.expression_list(child<List>(tree, 2))};
    return statement;
  }
  ast::ExprPtr first = exprs_.expression_list(child<List>(tree, 0));
  std::size_t count = tree->children.size();
  if (count == 1) {
    statement.kind = ast::ExpressionStatement{std::move(first)};
    return statement;
  }
  ast::Assignment result;
  result.targets.push_back(std::move(first));
  if (token_of(tree->children[1])->getType() == Parser::COLON) {
    result.annotation = exprs_.expression(child<Parser::ExpressionContext>(tree, 2));
    if (count > 3) result.value = exprs_.expression_list(child<List>(tree, 4));
  } else {
    for (std::size_t i = 2; i + 1 < count; i += 2)
      result.targets.push_back(exprs_.expression_list(child<List>(tree, i)));
    result.value = exprs_.expression_list(child<List>(tree, count - 1));
  }
  for (const ast::ExprPtr& each : result.targets) exprs_.refuse_star(*each);
  statement.kind = std::move(result);
  return statement;
}

ast::Statement StatementConverter::header(Parser::HeaderContext* tree) {
  ast::Statement statement{line_.span_of(tree), ast::Pass{}, nullptr, {}};
  auto branch = [&](ast::ExprPtr condition) {
    ast::If result;
    result.branches.push_back({std::move(condition), {}, line_.span_of(tree)});
    statement.kind = std::move(result);
  };
  if (auto* c = tree->classHeader()) statement.kind = class_definition(c);
  if (auto* d = tree->defHeader()) statement.kind = definition(d);
  if (auto* w = tree->withHeader()) {
    ast::With with;
    for (auto* item : w->withItem()) {
      ast::ExprPtr value = exprs_.expression(item->expression());
      with.items.push_back({std::move(value), item->target() ? exprs_.target(item->target()) : nullptr});
    }
    statement.kind = std::move(with);
  }
  if (auto* f = tree->forHeader()) {
    ast::ExprPtr variables = exprs_.targets(f->targets());
    statement.kind = ast::For{std::move(variables), exprs_.expression_list(f->expressionList()), {}};
  }
  if (auto* w = tree->whileHeader()) statement.kind = ast::While{exprs_.expression(w->expression()), {}};
  if (auto* i = tree->ifHeader()) branch(exprs_.expression(i->expression()));
  if (auto* e = tree->elifHeader()) branch(exprs_.expression(e->expression()));
  if (tree->elseHeader()) branch(nullptr);
  return statement;
}

ast::ClassDefinition StatementConverter::class_definition(Parser::ClassHeaderContext* tree) {
  ast::ClassDefinition result;
  result.name = line_.text_of(tree->NAME()->getSymbol());
  result.name_span = line_.span_of(tree->NAME()->getSymbol());
  if (tree->arguments()) result.bases = exprs_.arguments(tree->arguments());
  return result;
}

ast::FunctionDefinition StatementConverter::definition(Parser::DefHeaderContext* tree) {
  ast::FunctionDefinition result;
  result.name = line_.text_of(tree->NAME()->getSymbol());
  result.name_span = line_.span_of(tree->NAME()->getSymbol());
  if (auto* parameters = tree->typeParameters()) {
    for (auto* p : parameters->typeParameter()) {
      result.type_parameters.push_back({std::string(line_.text_of(p->NAME()->getSymbol())), line_.span_of(p),
                                        p->expression() ? exprs_.expression(p->expression()) : nullptr});
    }
  }
  if (auto* parameters = tree->parameters()) {
    for (auto* p : parameters->parameter()) result.parameters.push_back(parameter(p));
  }
  if (tree->ARROW()) result.result_annotation = exprs_.expression(tree->expression());
  return result;
}

ast::Parameter StatementConverter::parameter(Parser::ParameterContext* tree) {
  ast::Parameter result;
  result.span = line_.span_of(tree);
  if (!tree->NAME()) {
    result.name = line_.text_of(tree->start);
    result.stars = 1;
    return result;
  }
  result.name = line_.text_of(tree->NAME()->getSymbol());
  result.span = line_.span_of(tree->NAME()->getSymbol());
  result.stars = tree->MUL() ? 1 : tree->POW() ? 2 : 0;
  std::size_t next = 0;
  if (tree->COLON()) result.annotation = exprs_.expression(tree->expression(next++));
  if (tree->ASSIGN()) result.default_value = exprs_.expression(tree->expression(next));
  return result;
}

}  // namespace relish
