// The command `:reload`: functions whose text changed in the file that they come from.
#include "shell/commands/subject.h"
#include "shell/workspace/workspace.h"
#include "support/failure.h"

namespace relish::commands_reload {
namespace {

constexpr Option options[] = {
    {"watch", OptionKind::Flag, "", "again and again, when the file has changed", 0, in_session},
    {"stop", OptionKind::Flag, "", "no file is watched any more", 0, in_session},
};

// Not of what was asked, and not of who stopped it.
bool is_of_file(const Failure& failure) {
  return failure.error_class() != ErrorClass::Usage && failure.error_class() != ErrorClass::Interrupted;
}

ScriptValue run(Invocation& invocation) {
  FileChanges& files = invocation.workspace->files();
  if (invocation.flag("stop")) {
    if (!invocation.files.empty() || invocation.flag("watch"))
      fail(ErrorClass::Usage, {}, "command.subject", "reload --stop takes nothing else");
    const bool watched = files.watches();
    files.watch_nothing();
    return watched ? "no file is watched any more" : "no file was watched";
  }
  if (invocation.files.size() > 1)
    fail(ErrorClass::Usage, {}, "command.subject", "reload takes the name of one module or function");
  std::optional<std::string> name;
  if (!invocation.files.empty()) name = invocation.files.front();
  const bool watches = invocation.flag("watch");
  std::string text;
  try {
    for (const std::string& line : files.reload(name)) text += (text.empty() ? "" : "\n") + line;
    if (text.empty()) text = "no function changed";
  } catch (const Failure& failure) {
    // Who watches a file mends it later.
    if (!watches || !is_of_file(failure)) throw;
    invocation.session.output().flush();
    invocation.session.report(failure.diagnostics());
    text = "everything is as it was; it is read when the file has changed";
  }
  if (watches) {
    files.watch(name);
    text += "\nwatching; :reload --stop ends it";
  }
  return text;
}

constexpr Example examples[] = {{"", ":reload M"}, {"", ":reload M --watch"}};

}  // namespace

extern const Command command_reload;
const Command command_reload{
    .name = "reload",
    .summary = "reads the functions again whose text changed in their file",
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Functions whose text is as it was stay the very same ones, and so do tensors. What commands made of a "
        "function that changed is stale; :redo-derived M makes it anew. Functions that the file has by now "
        "come in: those of a class, and without a name free ones of a file that the session runs. Statements "
        "of the file do not run.",
    .surfaces = in_session,
    .arguments = "[NAME]",
};

}  // namespace relish::commands_reload
