// The commands `run` and `repl`.
#include <filesystem>

#include "shell/commands/subject.h"
#include "shell/commands/training/training.h"
#include "shell/program/module_files.h"
#include "shell/program/program_file.h"
#include "shell/repl/inputs/colon_command.h"
#include "shell/repl/inputs/input_parts.h"
#include "shell/repl/repl.h"
#include "shell/workspace/workspace.h"
#include "support/atomic_file.h"
#include "support/limits.h"
#include "support/render.h"

namespace relish::commands_run {
namespace {

constexpr Option run_options[] = {
    {"execute", OptionKind::Text, "", "run this text in place of a file", 'e', in_shell},
    {"set", OptionKind::Assignments, "", "value of an arg() of the script: NAME=VALUE", 0, in_shell},
    {"run_dir", OptionKind::OutputFolder, "runs/<script>-<number>", run_dir_doc, 0, in_shell},
    {"resume", OptionKind::Text, "", resume_doc, 0, in_shell},
    {"overwrite", OptionKind::Flag, "", overwrite_doc, 0, in_shell},
    {"checkpoint_every", OptionKind::Text, "60s", checkpoint_every_doc, 0, in_shell},
    {"keep", OptionKind::Integer, "3", keep_doc, 0, in_shell},
    {"time_limit", OptionKind::Text, "", time_limit_doc, 0, in_shell},
    {"log_every", OptionKind::Text, "100", log_every_doc, 0, in_shell},
    {"tensorboard", OptionKind::Flag, "", tensorboard_doc, 0, in_shell},
    {"html", OptionKind::Flag, "", html_doc, 0, in_shell},
};

constexpr Example run_examples[] = {
    {"relish run train.relish --set epochs=5", "run(\"setup.relish\")"},
    {"relish -e \"print(1 / 2)\"", ""},
};

// A `:` line belongs to a session; the message gives the call.
void refuse_session_commands(const Script& script, const std::string& name, const std::string& text) {
  for (const InputPart& part : input_parts(text)) {
    if (!part.command) continue;
    std::string line = part.text;
    while (line.ends_with('\n') || line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    std::string call;
    try {
      call = "; in a script write " + statement_of(script, line);
    } catch (const Failure&) {
      // No command of scripts: :quit, or a name that is none.
    }
    const auto file = Sources::instance().add(name, line + "\n", part.line);
    fail(ErrorClass::Syntax, {file, 0, static_cast<std::uint32_t>(line.size())}, "run.command",
         fmt::format("'{}' is a command of a session{}", printable(line), call));
  }
}

// Where nothing was run: what is there, and what runs it.
void tell_declared(const Script& script, const std::string& path) {
  std::vector<std::string> callable;
  std::string found;
  const auto list = [&](const ModulePtr& module, const std::string& title, const std::string& prefix) {
    std::string names;
    for (const std::string& name : module->names()) {
      names += (names.empty() ? "" : ", ") + name;
      callable.push_back(prefix + name);
    }
    found += fmt::format("{}{} ({})", found.empty() ? "" : ", ", title, names);
  };
  for (const std::string& name : script.environment().names()) {
    const auto* module = script.environment().find(name)->as<ModulePtr>();
    if (module) list(*module, "module " + name, name + ".");
  }
  if (script.free_functions()) list(script.free_functions(), "functions", "");
  if (callable.empty()) return;
  write_error_text(
      fmt::format("note: {0} declares {1} and has no statements to run; relish call {0} {2} calls a "
                  "function, relish check "
                  "{0} checks all\n",
                  printable(path), found, callable.front()));
}

ScriptValue run_script(Invocation& invocation) {
  Session& session = invocation.session;
  if (invocation.surface == Surface::Script) {
    if (invocation.files.size() != 1)
      fail(ErrorClass::Usage, invocation.span, "run.file", "run takes the path of a script");
    std::string path = invocation.script->resolve_path(invocation.files.front(), invocation.span);
    ScriptOptions inner;
    inner.folder = std::filesystem::path(path).parent_path().string();
    inner.confined = true;
    inner.running = invocation.script->running();
    refuse_cycle(path, inner.running, "run.cycle", "run", invocation.span);
    Script script(session, inner);
    script.run_text(path, text_of_program(path));
    return {};
  }
  for (const auto& [name, value] : invocation.assignments("set"))
    session.settings().sets.emplace_back(name, text_of(value));
  keep_job_flags(invocation);
  start_time_limit(invocation);
  if (invocation.given("execute")) {
    if (!invocation.files.empty())
      fail(ErrorClass::Usage, {}, "run.file", "a file and -e contradict each other");
    Workspace workspace(session, {}, Keeping::Nothing);
    workspace.run("<-e>", invocation.text("execute"));
    return {};
  }
  if (invocation.files.size() != 1) {
    const std::string other = invocation.files.empty() ? "" : invocation.files.back();
    const bool value = invocation.files.size() > 1 && other.find('=') != other.npos;
    fail(ErrorClass::Usage, {}, "run.file",
         fmt::format(
             "run takes one script, '-' or -e TEXT{}",
             value ? fmt::format("; an argument of the script is given by --set {}", printable(other)) : ""));
  }
  const std::string& path = invocation.files.front();
  ScriptOptions options;
  options.confined = true;
  if (path != "-") options.folder = std::filesystem::path(path).parent_path().string();
  Workspace workspace(session, options, Keeping::Nothing);
  const Script& script = workspace.script();
  const std::string name = path == "-" ? "<stdin>" : path;
  const std::string text = text_of_program(path);
  refuse_session_commands(script, name, text);
  workspace.run(name, text);
  if (script.only_declared()) tell_declared(script, path);
  return {};
}

constexpr Example repl_examples[] = {{"relish repl model.relish", ""}};

ScriptValue run_repl_command(Invocation& invocation) {
  invocation.exit_code = run_repl(invocation.session, invocation.files);
  return {};
}

}  // namespace

extern const Command command_run;
const Command command_run{
    .name = "run",
    .summary = "runs a script",
    .subject = Subject::Files,
    .options = run_options,
    .run = run_script,
    .examples = run_examples,
    .subject_optional = true,
};

extern const Command command_repl;
const Command command_repl{
    .name = "repl",
    .summary = "opens the interactive session, with files run first",
    .subject = Subject::Files,
    .run = run_repl_command,
    .examples = repl_examples,
    .subject_optional = true,
    .surfaces = in_shell,
};

}  // namespace relish::commands_run
