// The commands `run` and `repl`.
#include <filesystem>

#include "shell/commands/subject.h"
#include "shell/repl/repl.h"
#include "shell/script/script.h"
#include "support/atomic_file.h"
#include "support/limits.h"

namespace relish {
namespace {

constexpr Option run_options[] = {
    {"execute", OptionKind::Text, "", "run this text in place of a file", 'e', in_shell},
    {"set", OptionKind::Assignments, "", "value of an arg() of the script: NAME=VALUE", 0, in_shell},
    {"run_dir", OptionKind::Text, "runs/<script>-<number>", "folder of training jobs", 0, in_shell},
    {"log_every", OptionKind::Text, "100", "steps between two loss lines, or seconds as 10s", 0, in_shell},
};

constexpr Example run_examples[] = {
    {"relish run train.relish --set epochs=5", "run(\"setup.relish\")"},
    {"relish -e \"print(1 / 2)\"", ""},
};

ScriptValue run_script(Invocation& invocation) {
  Session& session = invocation.session;
  if (invocation.surface == Surface::Script) {
    if (invocation.files.size() != 1)
      fail(ErrorClass::Usage, invocation.span, "run.file", "run takes the path of a script");
    std::string path = invocation.script->resolve_path(invocation.files.front(), false, invocation.span);
    ScriptOptions inner;
    inner.folder = std::filesystem::path(path).parent_path().string();
    inner.confined = invocation.script->options().confined;
    Script script(session, inner);
    script.run_text(path, read_file(path, limits().max_source_bytes, "--max-source-size"));
    return {};
  }
  for (const auto& [name, value] : invocation.assignments("set"))
    session.settings().sets.emplace_back(name, text_of(value));
  for (std::string_view flag : {"run_dir", "log_every"}) {
    if (invocation.given(flag)) session.settings().job_flags.emplace_back(flag, invocation.text(flag));
  }
  if (invocation.given("execute")) {
    if (!invocation.files.empty())
      fail(ErrorClass::Usage, {}, "run.file", "a file and -e contradict each other");
    Script script(session);
    script.run_text("<-e>", invocation.text("execute"));
    return {};
  }
  if (invocation.files.size() != 1)
    fail(ErrorClass::Usage, {}, "run.file", "run takes one script, '-' or -e TEXT");
  const std::string& path = invocation.files.front();
  ScriptOptions options;
  options.confined = true;
  if (path != "-") options.folder = std::filesystem::path(path).parent_path().string();
  Script script(session, options);
  script.run_text(path == "-" ? "<stdin>" : path,
                  read_file(path, limits().max_source_bytes, "--max-source-size"));
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

}  // namespace relish
