// Values of a script's expressions. Calls are the layer above.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/script/script_state.h"

namespace relish {

class ScriptValues : public ScriptState {
 protected:
  using ScriptState::ScriptState;

  virtual ScriptValue value_of_call(const ast::Call& call, Span span) = 0;

  ScriptValue value_of(const ast::Expr& expr);
  ScriptValue value_of_state(const std::string& name, const std::string& state, Span span);
  const ast::Expr* state_behind(const ast::Expr& operand, const ast::Link& link) const;
  ScriptValue value_of_name(const std::string& name, Span span);
  ScriptValue value_of_attribute(const ast::Attribute& attribute, Span span);
  ScriptValue value_of_chain(const ast::Chain& chain, Span span);
  ScriptValue value_of_comparison(const ast::Comparison& comparison, Span span);
  ScriptValue value_of_prefix(const ast::Prefix& prefix, Span span);
  ScriptValue value_of_format(const ast::FormatString& text);
  ScriptValue value_of_subscript(const ast::Subscript& subscript, Span span);
  ScriptValue value_of_numbers(const ast::NumberListValue& numbers);
  // The items of a list or tuple; a starred one gives its own.
  std::vector<ScriptValue> values_of_items(const std::vector<ast::ExprPtr>& items);
  ScriptValue binary(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);
  ScriptValue compare(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);
  bool condition(const ast::Expr& expr, std::string_view word);

  // While the right side of `M@before.main` is evaluated: the name of the state in it, and that in front of
  // it.
  std::pair<const ast::Expr*, const ast::Expr*> state_of_ = {};
};

// Iterates as `for` does: range, list, tuple, dict (its keys), shape, the rows of a tensor. TypeError for
// other kinds.
void for_each_item(const ScriptValue& iterable, Span span,
                   const std::function<bool(const ScriptValue&)>& visit);

}  // namespace relish
