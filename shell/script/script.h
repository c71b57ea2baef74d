// A script: the running of its statements by the rules of the language. One object serves a file, `-e`,
// standard input, or a whole REPL session. The upmost of the layers that begin with script_state.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "shell/script/script_calls.h"
#include "shell/script/unfinished_modules.h"

namespace relish {

class Script final : public ScriptCalls {
 public:
  explicit Script(Session& session, ScriptOptions options = {});

  // Reads the source with id `file` and runs its statements in order until the first failure, which is
  // thrown. Nothing runs when the text has errors. Statements before a failing one keep their effect.
  void run(std::uint32_t file);
  // How far the last text ran: where the last statement that finished ends in it, and whether one behind that
  // was stopped, so that some of what it did stands: the names that it bound, and how often it drew numbers.
  // For sessions, which write down what happened.
  struct Progress {
    std::uint32_t end = 0;
    Span stopped;
    std::vector<std::string> touched;
    std::uint64_t draws = 0;
  };
  const Progress& progress() const { return progress_; }
  // The value of an expression's text.
  ScriptValue evaluate(std::uint32_t file);
  // The value of a constant's expression, whose names are literals.
  ScriptValue constant(const ast::Expr& expr, const ConstantLiterals& known);
  // Adds a file's text and runs it.
  void run_text(std::string name, std::string text, std::uint32_t first_line = 1);
  // Whether the last text held nothing but declarations: then nothing has run.
  bool only_declared() const { return only_declared_; }

 private:
  Script& script() override { return *this; }
  void take_library(const ModulePtr& module, const LibraryText& text) override;

  enum class Flow { Next, Break, Continue, Return };

  template <class Work>
  void atomically(const Work& work);
  bool in_function() const { return frame_ && frame_->function; }
  Flow run_statement(const ast::Statement& statement);
  void run_noted(const ast::Statement& statement, const std::set<std::string>& constants);
  Flow execute(const ast::Statement& statement);
  Flow execute(const ast::Block& block);
  void execute_assignment(const ast::Assignment& assignment);
  void execute_assert(const ast::Assert& statement, Span span);
  Flow execute_for(const ast::For& loop, Span span);
  Flow execute_while(const ast::While& loop, Span span);
  Flow execute_if(const ast::If& statement);
  void run_body(const ast::Block& body) override;
  Flow run_round(const ast::For& loop, const ScriptValue& item);
  bool only_changes(const ast::Expr& expr) const;
  void follow_free_functions();
  void forget_undeclared();
  void forget_free_function(const std::string& name, Span span) override;
  void declare(const ModulePtr& module, Span span);
  void declare(const ast::DeclareFunction& declaration, Span span);
  void declare(const ast::Deferred& group, Span span);
  void declare_arguments(const ast::Block& statements);
  std::size_t begin_functions(const ast::Block& statements, std::size_t begin);

  Progress progress_;
  // Declared by the text that is running: they may call each other.
  std::vector<GlobalFunction> text_functions_;
  std::set<std::string> declared_;                 // of these
  UnfinishedFunctions unfinished_;                 // of it
  ModulePtr free_before_;                          // the free functions without them
  std::map<std::string, std::string> text_links_;  // as `earlier_.linked`, as the text that runs has them
  std::set<std::string> declared_arguments_;
  bool only_declared_ = false;
  int loops_ = 0;  // that run
};

}  // namespace relish
