// ANTLR's tree of a simple statement or a header to our syntax tree. Internal to frontend/: ANTLR types.
#pragma once

#include "frontend/text/ast.h"
#include "frontend/text/expr_converter.h"
#include "frontend/text/tree_text.h"

namespace relish {

class StatementConverter {
 public:
  using Parser = grammar::RelishParser;

  StatementConverter(const TreeText& line, ExprConverter& exprs) : line_(line), exprs_(exprs) {}

  // Each throws TreeText::Refused after reporting what is wrong.
  ast::Statement simple(Parser::SimpleStatementContext* tree);
  ast::Statement header(Parser::HeaderContext* tree);

 private:
  ast::Statement assignment(Parser::AssignmentContext* tree);
  ast::Import import(Parser::ImportStatementContext* tree);
  ast::ClassDefinition class_definition(Parser::ClassHeaderContext* tree);
  ast::FunctionDefinition definition(Parser::DefHeaderContext* tree);
  ast::Parameter parameter(Parser::ParameterContext* tree);

  const TreeText& line_;
  ExprConverter& exprs_;
};

}  // namespace relish
