// A script: its names, and the running of its statements by the rules of the language. One object serves a
// file, `-e`, standard input, or a whole REPL session.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/names/namespaces.h"
#include "frontend/reader.h"
#include "frontend/text/ast.h"
#include "shell/command.h"
#include "shell/program/path_rules.h"
#include "shell/script/call_arguments.h"
#include "shell/script/environment.h"
#include "shell/script/function_values.h"
#include "shell/script/operator_call.h"

namespace relish {

struct ScriptOptions {
  // Folder against which relative paths are resolved; empty: the current one.
  std::string folder;
  // Files that the script may name: below its folder only (scripts), or any (what the user types).
  bool confined = false;
  // A typed input: the value of a lone string is shown.
  bool interactive = false;
  // The files whose statements are running, outermost first.
  std::vector<std::string> running = {};
};

class Script {
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
  // Adds a file's text and runs it.
  void run_text(std::string name, std::string text);

  Session& session() { return session_; }
  Environment& environment() { return environment_; }
  const Environment& environment() const { return environment_; }
  OperatorCalls& operators() { return operators_; }
  const ScriptOptions& options() const { return options_; }
  // Against which the next texts resolve relative paths.
  void set_folder(std::string folder) { options_.folder = std::move(folder); }
  // With the file that this script runs.
  const std::vector<std::string>& running() const { return running_; }
  // Whether the last text held nothing but declarations: then nothing has run.
  bool only_declared() const { return only_declared_; }
  // The implicit module of free functions; null when there are none.
  const ModulePtr& free_functions() const { return free_functions_; }
  // What the next text may refer to.
  ReadOptions reading_options();

  // Calls a function of a module with script values.
  ScriptValue call_function(const FunctionReference& function, std::vector<NamedValue> arguments, Span span);
  // Calls a function value that a call returned.
  ScriptValue call_value(const std::shared_ptr<const ObjectValue>& function,
                         std::vector<NamedValue> arguments, Span span);
  // The value of arg(name, fallback).
  ScriptValue argument(const std::string& name, const ScriptValue& fallback, Span span);
  // The path that a script's text names, as it may be opened; PolicyError when it may not.
  std::string resolve_path(const std::string& path, Span span);
  // The module of a program file: the one that the text's functions were linked with, if they use it.
  ModulePtr load_module(const std::string& path, Span span);

 private:
  PathRules path_rules() const;
  ModulePtr read_module_file(const std::string& path, Span span);
  enum class Flow { Next, Break, Continue };

  void atomically(const std::function<void()>& work);
  Flow run_statement(const ast::Statement& statement);
  void run_noted(const ast::Statement& statement);
  Flow execute(const ast::Statement& statement);
  Flow execute(const ast::Block& block);
  void execute_assignment(const ast::Assignment& assignment);
  void execute_augmented(const ast::AugmentedAssignment& assignment, Span span);
  bool grow(const std::string& name, const ScriptValue& operand, Span span);
  bool grow_by_sum(const ast::Assignment& assignment);
  void execute_assert(const ast::Assert& statement, Span span);
  Flow execute_for(const ast::For& loop, Span span);
  Flow execute_while(const ast::While& loop, Span span);
  Flow execute_if(const ast::If& statement);
  void bind(const ast::Expr& target, ScriptValue value);
  void set_name(const std::string& name, ScriptValue value, Span span);
  void declare(const ModulePtr& module, Span span);
  void declare(const ast::DeclareFunction& declaration, Span span);

  ScriptValue value_of(const ast::Expr& expr);
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

  ScriptValue value_of_call(const ast::Call& call, Span span);
  // "R.nn.relu" for a dotted name in a namespace of TVM whose first word is no variable; empty otherwise.
  std::string namespace_path(const ast::Expr& expr) const;
  ScriptValue call_namespace(const std::string& path, const std::vector<NamedValue>& arguments, Span span);
  ScriptValue call_by_name(const std::string& name, const ast::Call& call, Span span);
  ScriptValue call_method(const ast::Attribute& method, const ast::Call& call, Span span);
  ScriptValue call_command(const Command& command, std::vector<NamedValue> arguments, Span span);
  std::vector<NamedValue> arguments_of(const ast::Call& call);
  std::vector<NamedValue> names_of(const ast::Call& call);
  ScriptValue call_any(const ScriptValue& callee, const ast::Call& call, Span span);
  [[noreturn]] void unknown_name(const std::string& name, Span span);
  void declare_arguments(const ast::Block& statements);
  std::size_t begin_functions(const ast::Block& statements, std::size_t begin);

  Session& session_;
  ScriptOptions options_;
  Progress progress_;
  Environment environment_;
  OperatorCalls operators_;
  FunctionValues function_values_;
  ModulePtr free_functions_;
  std::vector<GlobalFunction>
      text_functions_;  // declared by the text that is running: they may call each other
  Namespaces namespaces_;
  std::set<std::string> declared_arguments_;
  std::map<std::string, ModulePtr> loads_;       // modules of files, by the names that they were loaded into
  std::map<std::string, ModulePtr> read_ahead_;  // of the text that runs, by path as written
  std::map<std::string, std::string> linked_;    // functions of files in `free_functions_`: lib_f -> lib.f
  std::map<std::string, std::string> text_links_;  // the same, as the text that runs has them
  std::vector<std::string> chain_;                 // the file that runs
  std::vector<std::string> running_;
  bool only_declared_ = false;
};

// Iterates as `for` does: range, list, tuple, dict (its keys), shape, the rows of a tensor. TypeError for
// other kinds.
void for_each_item(const ScriptValue& iterable, Span span,
                   const std::function<bool(const ScriptValue&)>& visit);

}  // namespace relish
