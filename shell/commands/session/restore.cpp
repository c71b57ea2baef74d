// The command `:restore`: a session that :save wrote with its values.
#include <filesystem>

#include <fmt/ranges.h>

#include "shell/commands/subject.h"
#include "shell/workspace/saved/archive_lines.h"
#include "shell/workspace/state_words.h"
#include "support/atomic_file.h"
#include "support/counted.h"
#include "support/failure.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish::commands_restore {
namespace {

constexpr Option options[] = {
    {"overwrite", OptionKind::Flag, "", "in the place of the states that this session has", 0, in_session},
};

// What the session before did not save.
std::string path_of_left() {
  std::string path = left_session_path(archive_ending);
  if (path.empty() || !std::filesystem::exists(path) || !holds_states(path)) {
    fail(ErrorClass::Usage, {}, "restore.path",
         "no session left states behind; restore takes a file: :restore session.rxs");
  }
  return path;
}

ScriptValue run(Invocation& invocation) {
  const std::string path =
      invocation.files.empty()
          ? path_of_left()
          : session_path(without_quotes(fmt::format("{}", fmt::join(invocation.files, " "))),
                         {archive_ending, ".relish"});
  if (holds_statements(path)) {
    fail(ErrorClass::Usage, {}, "restore.path",
         fmt::format("'{0}' holds the statements of a session, and not its states; :load {0} runs them",
                     printable(path)));
  }
  // A file that is not there is told of before what would be lost for it.
  if (!std::filesystem::exists(path)) read_file(path, limits().max_source_bytes, "--max-source-size");
  Workspace& workspace = *invocation.workspace;
  const std::size_t own = workspace.log().size() - 1;
  if (own > 0 && !invocation.flag("overwrite")) {
    const std::string given = printable(fmt::format("{}", fmt::join(invocation.files, " ")));
    fail(ErrorClass::Usage, {}, "restore.session",
         fmt::format("this session has {} of its own, which would be lost; write :restore {}--overwrite to "
                     "lose {}, or begin with {}",
                     counted(own, "state"), given.empty() ? "" : given + " ", own == 1 ? "it" : "them",
                     given.empty() ? "relish repl and :restore" : "relish repl " + given));
  }
  const std::vector<std::string> lost = workspace.restore(path);
  std::string text = fmt::format("restored {}; now at {}", counted(workspace.log().size() - 1, "state"),
                                 place_of(workspace, workspace.log().present()));
  for (const std::string& line : lost) text += "\n" + line;
  return text;
}

constexpr Example examples[] = {{"", ":restore session.rxs"}, {"", ":restore"}};

}  // namespace

extern const Command command_restore;
const Command command_restore{
    .name = "restore",
    .summary = "goes on with a session that :save wrote into a file of the ending .rxs",
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "All states are there again, with branches and snapshots. Nothing runs, and a value is read when it is "
        "used first. Where the file is damaged, what is damaged is missing, and the rest is as it was. "
        "Without a file: the session that ended last with states that no file had.",
    .surfaces = in_session,
    .arguments = "[FILE]",
};

}  // namespace relish::commands_restore
