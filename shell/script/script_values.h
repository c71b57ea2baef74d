// Values of a script's expressions. Calls are the layer above.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/script/indexing.h"
#include "shell/script/script_state.h"

namespace relish {

class ScriptValues : public ScriptState {
 public:
  // object.name; nothing when there is none.
  std::optional<ScriptValue> attribute(const ScriptValue& object, const std::string& name, Span span);

 protected:
  using ScriptState::ScriptState;

  virtual ScriptValue value_of_call(const ast::Call& call, Span span) = 0;
  virtual ScriptValue value_of_lambda(const ast::Lambda& lambda, Span span) = 0;
  virtual ScriptValue value_of_comprehension(const ast::Comprehension& comprehension, Span span) = 0;

  ScriptValue value_of(const ast::Expr& expr);
  ScriptValue value_of_state(const std::string& name, const std::string& state, Span span);
  bool means_nothing(const std::string& name) const;
  const ast::Expr* state_behind(const ast::Expr& operand, const ast::Link& link) const;
  ScriptValue value_of_name(const ast::Name& name, Span span);
  ScriptValue value_of_dict(const ast::DictValue& dict, Span span);
  ScriptValue value_of_logic(const ast::Logic& logic);
  // np.sum(x), np.pi: TypeError with what is written here, where np is no name of the script. `call`: null
  // for a name that is not called.
  void refuse_library(const ast::Attribute& name, const ast::Call* call, Span span) const;
  // What a message says of a method that the value does not have, with the arguments; may be empty.
  std::string method_call_advice(const ast::Call& call) const;
  ScriptValue value_of_attribute(const ast::Attribute& attribute, Span span);
  ScriptValue value_of_chain(const ast::Chain& chain, Span span);
  ScriptValue value_of_comparison(const ast::Comparison& comparison, Span span);
  ScriptValue value_of_prefix(const ast::Prefix& prefix, Span span);
  std::string text_of_format(const std::vector<ast::FormatPart>& parts);
  ScriptValue value_of_subscript(const ast::Subscript& subscript, Span span);
  ScriptValue value_of_numbers(const ast::NumberListValue& numbers);
  // The items of a list or tuple; a starred one gives its own.
  std::vector<ScriptValue> values_of_items(const std::vector<ast::ExprPtr>& items);
  ScriptValue binary(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);
  ScriptValue compare(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);
  std::vector<SubscriptItem> items_of_subscript(const ast::Subscript& subscript);
  bool condition(const ast::Expr& expr, std::string_view word);

  // While the right side of `M@before.main` is evaluated: the name of the state in it, and that in front of
  // it.
  std::pair<const ast::Expr*, const ast::Expr*> state_of_ = {};
};

// Whether a value counts as true: Python's rule, and of tensors only one of one bool without dimensions;
// TypeError in the name of `word` for others.
bool truth(const ScriptValue& value, Span span, std::string_view word);
// `a op b` of values that are no tensors.
ScriptValue plain_operation(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);

// Iterates as `for` does: range, list, tuple, dict (its keys), str (its characters), shape, the rows of a
// tensor. TypeError for other kinds.
void for_each_item(const ScriptValue& iterable, Span span,
                   const std::function<bool(const ScriptValue&)>& visit);

}  // namespace relish
