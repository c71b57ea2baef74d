// What a script knows while it runs: its names, modules and files. The lowest of the layers that Script is
// made of (state, values, calls, statements); each is a page that needs those below only.
#pragma once

#include <map>
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
#include "shell/script/libraries.h"
#include "shell/script/operator_call.h"
#include "shell/script/script_function.h"
#include "shell/script/script_observer.h"
#include "shell/workspace/state.h"

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
  ScriptObserver* observer = nullptr;
};

// Whether arg() takes the word as type.
bool is_argument_type(std::string_view type);
[[noreturn]] void missing_argument(const ScriptOptions& options, const std::string& name, Span span);

class ScriptState {
 public:
  virtual ~ScriptState() = default;

  Session& session() { return session_; }
  Environment& environment() { return environment_; }
  const Environment& environment() const { return environment_; }
  OperatorCalls& operators() { return operators_; }
  const ScriptOptions& options() const { return options_; }
  // Against which the next texts resolve relative paths.
  void set_folder(std::string folder) { options_.folder = std::move(folder); }
  // With the file that this script runs.
  const std::vector<std::string>& running() const { return files_.running; }
  // The implicit module of free functions; null when there are none.
  const ModulePtr& free_functions() const { return free_functions_; }
  // What the next text may refer to.
  ReadOptions reading_options();

  // The state that the statements came to since `before`, which was the state then.
  State state_since(const State& before);
  // Everything as it is in `to`; it is as in `from` now.
  void go_to(const State& from, const State& to);

  // The value of arg(name, fallback, type=…): `fallback` and `type` may be null. Without a fallback it is
  // required.
  ScriptValue argument(const std::string& name, const ScriptValue* fallback, const std::string* type,
                       Span span);
  // The path that a script's text names, as it may be opened; PolicyError when it may not.
  std::string resolve_path(const std::string& path, Span span);
  // The module of a program file: the one that the text's functions were linked with, if they use it;
  // `again`: as the file is now.
  ModulePtr load_module(const std::string& path, Span span, bool again = false);

 protected:
  ScriptState(Session& session, ScriptOptions options);

  // The names of what runs: the script's, or those of a loaded file.
  Environment& names() { return inside_.library ? inside_.library->names : environment_; }
  const Environment& names() const { return inside_.library ? inside_.library->names : environment_; }
  const Namespaces& namespaces() const { return inside_.library ? inside_.library->namespaces : namespaces_; }
  // What is known outside of the names; null in a loaded file.
  ScriptObserver* observer() const { return inside_.library ? nullptr : options_.observer; }
  // Makes the names that the functions of a loaded file see.
  virtual void take_library(const ModulePtr& module, const LibraryText& text) = 0;

  PathRules path_rules() const;
  ModulePtr read_module_file(const std::string& path, Span span);
  void set_name(const std::string& name, ScriptValue value, Span span);
  void set_script_name(const ast::Name& name, ScriptValue value, Span span);
  [[noreturn]] void unknown_name(const std::string& name, Span span);
  // What the name stands for here; null when nothing is bound to it.
  const ScriptValue* variable(const ast::Name& name) const;
  // The name's slot in the function that runs, or in the comprehensions of a statement; null for a name of
  // the script.
  NameSlot* slot_of(const ast::Name& name) const;
  // "R.nn.relu" for a dotted name in a namespace of TVM whose first word is no variable; empty otherwise.
  std::string namespace_path(const ast::Expr& expr) const;

  // What texts that were read before mean for this one.
  struct EarlierTexts {
    std::map<std::string, ModulePtr> read_ahead;  // of the text that runs, by path as written
    ModulePtr sound;                              // free functions that it may call
    std::set<std::string> constants;              // names that stand for constants in later texts
    std::map<std::string, std::string> linked;    // functions of files in `free_functions_`: lib_f -> lib.f
  };
  struct RunningFiles {
    std::vector<std::string> chain;  // the file that runs
    std::vector<std::string> running;
  };
  struct InsideFunctions {
    Library* library = nullptr;  // whose function runs
    std::size_t calls = 0;       // of script functions, one inside the other
  };

  Session& session_;
  ScriptOptions options_;
  Environment environment_;
  InsideFunctions inside_;
  // What runs: a function, or the statements of a text.
  Frame* frame_ = nullptr;
  OperatorCalls operators_;
  FunctionValues function_values_;
  ModulePtr free_functions_;
  Namespaces namespaces_;
  EarlierTexts earlier_;
  RunningFiles files_;
};

}  // namespace relish
