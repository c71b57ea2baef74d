// ANTLR's tree of an expression to our syntax tree. Internal to frontend/: ANTLR types.
#pragma once

#include <optional>
#include <vector>

#include "frontend/text/ast.h"
#include "frontend/text/grammar_engine.h"
#include "frontend/text/tree_text.h"

namespace relish {

// A field of an f-string whose text is still to be parsed: the parser serves one line at a time.
struct PendingField {
  ast::Expr* format;  // a FormatString
  std::size_t part;
  std::optional<std::size_t> inner;  // among the fields of that part's specification
  std::size_t begin, end;            // of the text
};

ast::ExprPtr make_expr(Span span, ast::ExprKind kind);

class ExprConverter {
 public:
  using Parser = grammar::RelishParser;

  // `long_chains`: see LineParser.
  ExprConverter(const TreeText& line, bool long_chains) : line_(line), long_chains_(long_chains) {}

  // Each throws TreeText::Refused after reporting what is wrong with a literal or a name.
  ast::ExprPtr expression(Parser::ExpressionContext* tree);
  ast::ExprPtr expression_list(Parser::ExpressionListContext* tree);
  ast::ExprPtr primary(Parser::PrimaryContext* tree);
  std::vector<ast::Argument> generator(Parser::ArgumentsContext* tree, Span brackets);
  // `take_generator`: of a callee that takes all items of its first argument (generator).
  std::vector<ast::Argument> arguments(Parser::ArgumentsContext* tree, bool take_generator = false);
  ast::ExprPtr targets(Parser::TargetsContext* tree);
  ast::ExprPtr target(Parser::TargetContext* tree);
  // A starred item stands in a list or tuple, not alone.
  void refuse_star(const ast::Expr& expr) const;

  std::vector<PendingField>& pending() { return pending_; }

 private:
  ast::ExprPtr lambda(Parser::LambdaContext* tree);
  ast::ExprPtr comprehension(Span span, ast::ExprPtr key, ast::ExprPtr value,
                             Parser::ComprehensionContext* tree);
  ast::ExprPtr operation(Parser::OperationContext* tree);
  ast::ExprPtr trailer(Parser::TrailerContext* tree, ast::ExprPtr object);
  ast::ExprPtr atom(Parser::AtomContext* tree);
  ast::ExprPtr number(antlr4::Token* token);
  ast::ExprPtr strings(const std::vector<antlr4::tree::TerminalNode*>& tokens, Span span);
  // What is refused by name; `fields_before`: how many fields were pending before it was read.
  ast::ExprPtr unsupported(Span span, std::string what, std::size_t fields_before);
  ast::ExprPtr bracketed(Parser::AtomContext* tree);
  ast::ExprPtr taken_generator(Parser::AtomContext* tree);
  ast::ExprPtr dictionary(Parser::AtomContext* tree);
  ast::ExprPtr list_item(Parser::ListItemContext* tree);
  ast::ExprPtr subscript(Parser::SubscriptContext* tree);

  void enter(std::size_t levels, Span at);
  std::size_t levels_of_chain(Parser::PrimaryContext* tree) const;

  const TreeText& line_;
  bool long_chains_;
  std::size_t depth_ = 0;
  bool minus_before_ = false;  // the number being read stands directly behind a minus
  bool in_uint64_ = false;     // the arguments being read are those of T.uint64
  std::vector<PendingField> pending_;
};

}  // namespace relish
