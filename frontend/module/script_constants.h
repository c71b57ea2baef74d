// Constants: names that a text binds once, at top level, to an expression of literals and other constants. In
// the functions below they stand for their values, in types, shapes, attributes and bodies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/text/ast.h"

namespace relish {

// The value of a constant's expression, whose names are those of `known`, as a literal; throws Failure.
using ConstantLiterals = std::map<std::string, const ast::Expr*>;
using ConstantValue = std::function<ast::ExprPtr(const ast::Expr& expr, const ConstantLiterals& known)>;
// Constants of earlier inputs of a session, as literals.
using KnownConstants = std::map<std::string, std::shared_ptr<const ast::Expr>>;

struct ReadContext;

// What is known outside of the text: how a value is found, whether a method changes what the name in front of
// it holds, and the constants of earlier inputs.
struct ConstantSources {
  const ConstantValue& value;
  const std::function<bool(std::string_view)>& is_change;
  const KnownConstants& known;
};
struct ConstantsOfText {
  std::set<std::string> names;
  std::set<std::string> users;  // declarations that see one: f, M, M.f
};
// Puts the constants of `assignments` into the declarations among `statements` below them. One that uses a
// constant without a value becomes Damaged, and that is told of.
ConstantsOfText put_constants(ReadContext& context, const ConstantSources& sources,
                              const ast::Block& assignments, ast::Block& statements);

class ScriptConstants {
 public:
  explicit ScriptConstants(const ConstantSources& sources) : sources_(sources) {}

  // Notes the constants of the statements, in their order. A name that is bound or changed more than once is
  // none.
  void collect(const ast::Block& statements);
  // Puts values into the place of constants that stand before `definition`, where no name of its own hides
  // them. Throws Failure for one that has no value. The definitions that see one are noted in `users`.
  void put_into(ast::Statement& definition, std::set<std::string>& users);
  std::set<std::string> names() const;

 private:
  struct Constant {
    const ast::Expr* expr;
    Span span;
    std::shared_ptr<const ast::Expr> value = nullptr;
    bool of_text = true;  // else of an earlier input, which stands above all
    // Of the value of `expr` the item that the name takes: h, w = sizes.
    std::optional<std::size_t> item = std::nullopt;
    std::size_t items = 0;  // that there must be
  };
  using Found = std::vector<std::pair<std::string, Constant>>;
  void find_constants(const ast::Expr& target, const ast::Expr& value, Span span, Found& found) const;
  const ast::Expr* value_of(const std::string& name);
  bool is_seen(const std::string& name, const std::set<std::string>& hidden, Span at) const;
  void replace(ast::ExprPtr& expr, const std::set<std::string>& hidden, Span at);
  void note_changes(const ast::Statement& statement, std::map<std::string, int>& bindings) const;
  void replace(ast::Block& block, const std::set<std::string>& hidden, Span at);
  void replace(ast::Statement& statement, const std::set<std::string>& hidden, Span at);
  void replace_function(ast::FunctionDefinition& function, std::set<std::string> hidden, Span at);

  const ConstantSources& sources_;
  std::map<std::string, Constant> constants_;
  bool replaced_ = false;
};

}  // namespace relish
