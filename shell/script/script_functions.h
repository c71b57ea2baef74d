// Functions of the script: what `def` and `lambda` make, their calls, and comprehensions, which have names of
// their own too.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shell/script/script_changes.h"

namespace relish {

class ScriptFunctions : public ScriptChanges {
 public:
  // ResourceLimit when it is one call too deep.
  ScriptValue call_script(const ScriptFunctionPtr& function, std::vector<NamedValue> arguments, Span span);

 protected:
  using ScriptChanges::ScriptChanges;

  // Runs the body of a function; its result is left in the frame.
  virtual void run_body(const ast::Block& body) = 0;

  ScriptValue value_of_lambda(const ast::Lambda& lambda, Span span) override;
  ScriptValue value_of_comprehension(const ast::Comprehension& comprehension, Span span) override;
  // all and any of a generator compute no item behind the one that decides.
  bool truth_in_generator(const ast::Comprehension& generator, bool all);
  void define(const ast::FunctionDefinition& definition, Span span, Span whole);

  // The frame of the statements of a text, for as long as they run.
  class TextFrame {
   public:
    TextFrame(ScriptFunctions& script, std::shared_ptr<const void> text, const ast::Scope& scope);
    ~TextFrame() { script_.frame_ = before_; }
    TextFrame(const TextFrame&) = delete;

   private:
    ScriptFunctions& script_;
    Frame frame_;
    Frame* before_;
  };

 private:
  ScriptFunction made_function(const std::vector<ast::Parameter>& parameters, const ast::Scope& scope);
  void take_arguments(const ScriptFunction& function, Frame& frame, std::vector<NamedValue> arguments,
                      Span span);
  void run_comprehension(const ast::Comprehension& comprehension, const std::function<bool()>& each);
  bool run_clauses(const ast::Comprehension& comprehension, std::size_t clause,
                   const std::function<bool()>& each);
};

}  // namespace relish
