// ANTLR's tree of one line to our syntax tree. Internal to frontend/: ANTLR types.
#pragma once

#include <vector>

#include "frontend/text/ast.h"
#include "frontend/text/grammar_engine.h"

namespace relish {

// A field of an f-string whose text is still to be parsed: the parser serves one line at a time.
struct PendingField {
  ast::Expr* format;  // a FormatString
  std::size_t part;
  std::size_t begin, end;  // of the text
};

class TreeConverter {
 public:
  using Parser = grammar::RelishParser;

  // `long_chains`: see LineParser.
  TreeConverter(const Slice& slice, Diagnostics& diagnostics, bool long_chains)
      : slice_(slice), diagnostics_(diagnostics), long_chains_(long_chains) {}

  // Each throws Refused after reporting what is wrong with a literal or a name.
  struct Refused {};
  ast::Statement simple(Parser::SimpleStatementContext* tree);
  ast::Statement header(Parser::HeaderContext* tree);
  ast::ExprPtr expression(Parser::ExpressionContext* tree);
  ast::ExprPtr expression_list(Parser::ExpressionListContext* tree);

  std::vector<PendingField>& pending() { return pending_; }

 private:
  ast::ExprPtr lambda(Parser::LambdaContext* tree);
  ast::ExprPtr operation(Parser::OperationContext* tree);
  ast::ExprPtr primary(Parser::PrimaryContext* tree);
  ast::ExprPtr trailer(Parser::TrailerContext* tree, ast::ExprPtr object);
  ast::ExprPtr atom(Parser::AtomContext* tree);
  ast::ExprPtr number(antlr4::Token* token);
  ast::ExprPtr strings(const std::vector<antlr4::tree::TerminalNode*>& tokens, Span span);
  ast::ExprPtr bracketed(Parser::AtomContext* tree);
  ast::ExprPtr dictionary(Parser::AtomContext* tree);
  ast::ExprPtr list_item(Parser::ListItemContext* tree);
  // A starred item stands in a list or tuple of values, not alone and not among targets.
  void refuse_star(const ast::Expr& expr);
  ast::ExprPtr targets(Parser::TargetsContext* tree);
  ast::ExprPtr target(Parser::TargetContext* tree);
  std::vector<ast::Argument> arguments(Parser::ArgumentsContext* tree);
  ast::ExprPtr subscript(Parser::SubscriptContext* tree);
  ast::Parameter parameter(Parser::ParameterContext* tree);
  ast::Statement assignment(Parser::AssignmentContext* tree);
  ast::Import import(Parser::ImportStatementContext* tree);
  ast::FunctionDefinition definition(Parser::DefHeaderContext* tree);
  ast::ClassDefinition class_definition(Parser::ClassHeaderContext* tree);

  Span span_of(antlr4::ParserRuleContext* tree) const;
  Span span_of(antlr4::Token* token) const;
  std::string_view text_of(antlr4::Token* token) const;
  std::string_view text_of(Span span) const;
  ast::ExprPtr make(Span span, ast::ExprKind kind) const {
    return std::make_unique<ast::Expr>(ast::Expr{span, std::move(kind)});
  }
  [[noreturn]] void refuse(Span span, std::string_view id, std::string message);
  void enter(std::size_t levels, Span at);
  std::size_t levels_of_chain(Parser::PrimaryContext* tree) const;

  const Slice& slice_;
  Diagnostics& diagnostics_;
  bool long_chains_;
  std::size_t depth_ = 0;
  bool minus_before_ = false;  // the number being read stands directly behind a minus
  bool in_uint64_ = false;     // the arguments being read are those of T.uint64
  std::vector<PendingField> pending_;
};

}  // namespace relish
