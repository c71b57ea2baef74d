// What an expression of a text gives, as far as that is known before it runs: numbers, words, and of tensors
// the dtype and shape. Names that are not bound, arguments that a call does not have and shapes that do not
// go together are faults. Nothing runs, and what is not understood is not known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/names/namespaces.h"
#include "shell/repl/faults/text_names.h"
#include "shell/script/operator_call.h"
#include "support/failure.h"

namespace relish {

struct Command;

class Workspace;

class ExpressionCheck {
 public:
  // `tell` is given each fault with its place in the text.
  ExpressionCheck(Workspace& workspace, Namespaces namespaces,
                  std::function<void(Span, const std::string&)> tell);

  TextNames& names() { return names_; }
  // Nothing for a value that is not known.
  std::optional<ScriptValue> value_of(const ast::Expr& expr);
  // Of `a op= b`.
  std::optional<ScriptValue> value_between(ast::Operator op, const std::optional<ScriptValue>& a,
                                           const std::optional<ScriptValue>& b, Span span);
  void check_parameters(const std::vector<ast::Parameter>& parameters);

 private:
  using Known = std::optional<ScriptValue>;
  // The arguments of a call; `all`: the value of each is known. Nothing where some come by * or **.
  struct Arguments {
    std::vector<NamedValue> given;
    std::vector<bool> known;
    bool all = true;
  };

  // What `work` gives; a fault of it is told.
  template <class Work>
  Known checked(Span span, const Work& work) {
    try {
      return work();
    } catch (const Failure& failure) {
      tell_failure(failure, span);
      return std::nullopt;
    }
  }
  void tell_failure(const Failure& failure, Span span);
  void visit_children(const ast::Expr& expr);
  bool is_known_word(const std::string& name) const;
  void tell_unbound(const ast::Expr& expr);
  std::string namespace_path(const ast::Expr& expr) const;

  Known value_of_name(const ast::Name& name, const ast::Expr& expr);
  Known value_of_items(const std::vector<ast::ExprPtr>& items, bool tuple);
  Known value_of_attribute(const ast::Attribute& attribute, const ast::Expr& expr);
  Known value_of_chain(const ast::Chain& chain);
  Known value_of_prefix(const ast::Prefix& prefix, Span span);
  Known value_of_subscript(const ast::Subscript& subscript);
  void check_lambda(const ast::Lambda& lambda);
  void check_comprehension(const ast::Comprehension& comprehension);

  std::optional<Arguments> arguments_of(const ast::Call& call);
  Known value_of_call(const ast::Call& call, Span span);
  Known call_name(const std::string& name, const ast::Call& call, Span span);
  Known call_donate(const ast::Call& call);
  Known call_builtin(const std::string& name, const ast::Call& call, Span span);
  Known call_command(const Command& command, const ast::Call& call);
  Known call_operator(const std::string& name, const ast::Call& call, Span span);
  Known call_function(const FunctionReference& function, const ast::Call& call, Span span);

  Workspace& workspace_;
  Namespaces namespaces_;
  std::function<void(Span, const std::string&)> tell_;
  TextNames names_;
};

}  // namespace relish
