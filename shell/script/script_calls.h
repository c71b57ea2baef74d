// Calls in scripts: functions of modules, operators, built-ins, commands, methods.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shell/script/script_functions.h"

namespace relish {

class ScriptCalls : public ScriptFunctions {
 public:
  // Calls whatever can be called: a function of a module or of the script, a built-in, a method.
  ScriptValue call(const ScriptValue& callee, std::vector<NamedValue> arguments, Span span);
  // Calls a function of a module with script values. `donations`: the first donation among its arguments.
  ScriptValue call_function(const FunctionReference& function, std::vector<NamedValue> arguments, Span span,
                            std::size_t donations = no_donations);
  // Calls a function value that a call returned.
  ScriptValue call_value(const std::shared_ptr<const ObjectValue>& function,
                         std::vector<NamedValue> arguments, Span span);

 protected:
  using ScriptFunctions::ScriptFunctions;

  // The whole script, which built-ins are given.
  virtual Script& script() = 0;

  ScriptValue value_of_call(const ast::Call& call, Span span) override;
  ScriptValue call_namespace(const std::string& path, const std::vector<NamedValue>& arguments, Span span);
  ScriptValue call_by_name(const ast::Name& callee, const ast::Call& call, Span span);
  ScriptValue call_method(const ast::Attribute& method, const ast::Call& call, Span span);
  ScriptValue call_command(const Command& command, std::vector<NamedValue> arguments, Span span);
  std::vector<NamedValue> arguments_of(const ast::Call& call);
  // Those of a function of a module. Names that the call's statement binds anew have their values no more.
  std::vector<NamedValue> arguments_to_give(const ast::Call& call);
  std::vector<NamedValue> names_of(const ast::Call& call);

  // What donate() took from names in the running statement and nothing has been made of yet: a statement that
  // fails before gives it back (`give_back_donations`), a call that goes ahead, or the statement's end, lets
  // those from `first` on go.
  void let_donations_go(std::size_t first);
  void give_back_donations();

  // The value of an assignment whose call may be given what the assignment's names hold; null: of another
  // one.
  ScriptValue value_while_rebinding(const ast::Assignment* assignment, const ast::Expr& value);

 private:
  struct Donation {
    std::string name;
    ScriptValue value;
    bool touched = false;  // the name, before
  };
  static constexpr std::size_t no_donations = static_cast<std::size_t>(-1);

  bool is_donation(const ast::Expr& argument) const;
  ScriptValue donate(const std::string& name);
  ScriptValue call_of_module(const FunctionReference& function, const ast::Call& call, Span span);
  ScriptValue call_of_value(const ScriptValue& callee, const ast::Call& call, Span span);
  void accept_donations(const FunctionReference& function, const std::vector<Value>& values,
                        std::size_t first);
  bool hand_over(const ast::Name& name);

  const ast::Assignment* rebinding_ = nullptr;
  std::vector<Donation> donations_;
};

}  // namespace relish
