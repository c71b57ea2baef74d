// Commands: one declaration each, three surfaces. A command is a function in scripts, `:name` in the REPL and
// a subcommand of the program; help, completion and the manual's list are made from the same declaration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/script/script_value.h"
#include "shell/session.h"

namespace relish {

class Script;
class Workspace;
struct ProgramFile;

// What a command works on: the first thing written behind its name.
enum class Subject : std::uint8_t {
  None,
  Module,      // script: a module · shell: FILE
  Function,    // script: M.f, or a module with one function or a `main` · shell: FILE -f FUNCTION
  Call,        // as Function, and arguments as its own call has them · shell: FILE FUNCTION
  Files,       // shell: FILE... · script: a module or path
  Name,        // a name, plain in the shell
  Expression,  // script: any value · shell: FILE -f FUNCTION
};

// How an option's text on the command line becomes a value, and which values it takes in scripts.
enum class OptionKind : std::uint8_t {
  Flag,          // --json · True, False
  Integer,       // 5
  Real,          // 0.1
  Text,          // a string
  Names,         // a,b · ["a", "b"] or "a"
  Path,          // index path into a result: 1.0 · 1 or [1, 0]
  Spec,          // NAME(option=value) as text
  Tensors,       // a file of named tensors · path or dict
  Assignments,   // NAME=VALUE, repeated · dict or list of "NAME=VALUE"
  InputFile,     // a path that is read
  OutputFile,    // a path that is written
  OutputFolder,  // a folder that files are written to
  Value,         // any value in scripts; on the command line a file (see the option's text)
};

// Surfaces on which an option exists.
inline constexpr std::uint8_t in_scripts = 1;
inline constexpr std::uint8_t in_shell = 2;
inline constexpr std::uint8_t everywhere = 3;  // in scripts, by `:` in a session, in the shell
inline constexpr std::uint8_t in_session = 4;  // only as `:name`, as what it asks only a session knows

struct Option {
  std::string_view name;  // as in scripts: "memory_budget"; "--memory-budget" elsewhere
  OptionKind kind = OptionKind::Text;
  std::string_view fallback = "";  // for the documentation; empty: none
  std::string_view doc = "";
  char letter = 0;  // short flag of the shell
  std::uint8_t surfaces = everywhere;
  bool required = false;
  std::string_view example = "";  // of a Spec: how it is spelt as a str, for messages
};

struct Example {
  std::string_view shell;
  std::string_view script;
};

class Invocation;

struct Command {
  std::string_view name;  // as in scripts
  std::string_view summary;
  Subject subject = Subject::None;
  std::span<const Option> options = {};
  // The result: a module, text or value that the surface shows, binds or returns; None for nothing.
  ScriptValue (*run)(Invocation&) = nullptr;
  std::span<const Example> examples = {};
  std::span<const std::string_view> aliases = {};
  std::string_view doc = "";
  bool transforms = false;  // module to module: an assignment in the REPL, `-o` in the shell
  bool subject_optional = false;
  std::uint8_t surfaces = everywhere;
  std::string_view arguments = "";  // what follows `:name`, of commands of a session
  std::uint8_t more_arguments = 0;  // that a script gives without names behind the subject
};

// Whether a session has it as `:name`.
inline bool is_session_command(const Command& command) {
  return (command.surfaces & (in_scripts | in_session)) != 0;
}

// All commands in the order of the manual.
std::span<const Command* const> all_commands();
// By name or alias, in either spelling (append_loss, append-loss, loss); null when unknown.
const Command* find_command(std::string_view name);
std::string shell_name(std::string_view name);   // '_' to '-'
std::string script_name(std::string_view name);  // '-' to '_'

enum class Surface : std::uint8_t { Script, Shell };

// One call of a command with its arguments resolved.
class Invocation {
 public:
  Invocation(Session& session, const Command& command, Surface surface, Span span)
      : session(session), command(command), surface(surface), span(span) {}

  Session& session;
  const Command& command;
  Surface surface;
  Span span;
  Script* script = nullptr;              // of a script's call
  Workspace* workspace = nullptr;        // of a command of a session
  const ProgramFile* program = nullptr;  // of the shell's FILE

  // The subject.
  ModulePtr module;
  std::string function;
  std::vector<std::string> files;      // Subject::Files, Subject::Name
  ScriptValue value;                   // Subject::Expression, and Subject::Files in scripts
  std::vector<ScriptValue> arguments;  // positional arguments behind the subject, in scripts
  // Of the function that a command calls, as its own call has them: by a parameter's name, or "" by place.
  std::vector<std::pair<std::string, ScriptValue>> call_arguments;

  void set(std::string_view option, ScriptValue value, Span at = {});
  bool given(std::string_view option) const { return find(option) != nullptr; }
  const ScriptValue* find(std::string_view option) const;
  // Whether None was written for it, which mostly means the same as leaving it out.
  bool is_none(std::string_view option) const;
  Span span_of(std::string_view option) const;

  // Typed access; TypeError (in scripts) or UsageError (in the shell) for a value of another kind.
  bool flag(std::string_view option) const;
  std::string text(std::string_view option, std::string_view fallback = "") const;
  std::int64_t integer(std::string_view option, std::int64_t fallback) const;
  double real(std::string_view option, double fallback) const;
  std::vector<std::string> names(std::string_view option) const;
  std::vector<int> path(std::string_view option) const;
  // Assignments as (name, value) with the values as written or given.
  std::vector<std::pair<std::string, ScriptValue>> assignments(std::string_view option) const;
  // The path of an option that writes, and of one that reads, as it may be opened: in scripts by the rules of
  // paths. PolicyError.
  std::string output_path(std::string_view option) const { return allowed_path(option); }
  std::string input_path(std::string_view option) const { return allowed_path(option); }
  // A path that stands in a value of an option, such as `@FILE`.
  std::string allowed_path(std::string_view option, const std::string& path) const;
  // Named tensors of a file or dict, in order.
  std::vector<std::pair<std::string, Tensor>> tensors(std::string_view option) const;

  // The wrong use of an option or argument.
  [[noreturn]] void misuse(std::string_view option, std::string message) const;
  // A value of the right kind that the option does not take: UsageError on all surfaces.
  [[noreturn]] void refuse_value(std::string_view option, std::string message) const;

  int exit_code = 0;  // set by commands that found a difference

 private:
  std::string allowed_path(std::string_view option) const { return allowed_path(option, text(option)); }

  struct Given {
    ScriptValue value;
    Span span;
  };
  std::map<std::string, Given, std::less<>> options_;
};

// The text of a command's page: synopsis on all surfaces, options, examples.
std::string command_help(const Command& command, bool markdown = false);
std::string command_list_help();
// docs/commands.md.
std::string commands_manual();

}  // namespace relish
