// Constants: names that a text binds once, at top level, to an expression of literals and other constants. In
// the functions below they stand for their values, in types, shapes, attributes and bodies.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/text/ast.h"

namespace relish {

// The value of a constant's expression, whose names are those of `known`, as a literal; throws Failure.
using ConstantLiterals = std::map<std::string, const ast::Expr*>;
using ConstantValue = std::function<ast::ExprPtr(const ast::Expr& expr, const ConstantLiterals& known)>;

struct ReadContext;

// What is known outside of the text: how a value is found, and names that are bound there.
struct ConstantSources {
  ConstantValue value;
  const std::vector<std::string>& bound;
};
// Puts the constants of `assignments` into the declarations among `statements` below them. One that uses a
// constant without a value becomes Damaged, and that is told of.
void put_constants(ReadContext& context, const ConstantSources& sources, const ast::Block& assignments,
                   ast::Block& statements);

class ScriptConstants {
 public:
  explicit ScriptConstants(ConstantValue value) : value_(std::move(value)) {}

  // Notes the constants of the statements, in their order. A name that is bound in `elsewhere` is none.
  void collect(const ast::Block& statements, const std::set<std::string>& elsewhere);
  // Puts values into the place of constants that stand before `definition`, where no name of its own hides
  // them. Throws Failure for one that has no value.
  void put_into(ast::Statement& definition);

 private:
  struct Constant {
    const ast::Expr* expr;
    Span span;
    ast::ExprPtr value = nullptr;
  };
  const ast::Expr* value_of(const std::string& name);
  bool is_seen(const std::string& name, const std::set<std::string>& hidden, Span at) const;
  void replace(ast::ExprPtr& expr, const std::set<std::string>& hidden, Span at);
  void replace(ast::Block& block, const std::set<std::string>& hidden, Span at);
  void replace(ast::Statement& statement, const std::set<std::string>& hidden, Span at);
  void replace_function(ast::FunctionDefinition& function, std::set<std::string> hidden, Span at);

  ConstantValue value_;
  std::map<std::string, Constant> constants_;
};

}  // namespace relish
