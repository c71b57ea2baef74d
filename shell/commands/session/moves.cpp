// The commands `:undo`, `:redo` and `:goto`: from one state of the session to another.
#include "shell/commands/subject.h"
#include "shell/workspace/state_words.h"
#include "support/counted.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish::commands_moves {
namespace {

// Where the session is now.
std::string arrived(const Workspace& workspace, bool made_again) {
  return fmt::format("now at {}{}", place_of(workspace, workspace.log().present()),
                     made_again ? " (made again from its statements)" : "");
}

void take_at_most(const Invocation& invocation, std::size_t most, std::string_view what) {
  if (invocation.files.size() > most) {
    fail(ErrorClass::Usage, {}, "command.subject",
         fmt::format("{} takes {}, found {}", shell_name(invocation.command.name), what,
                     counted(invocation.files.size(), "word")));
  }
}

ScriptValue run_undo(Invocation& invocation) {
  take_at_most(invocation, 1, "how many states to go back");
  Workspace& workspace = *invocation.workspace;
  std::size_t count = 1;
  if (!invocation.files.empty()) {
    const auto given = whole_number<std::size_t>(invocation.files.front());
    if (!given || *given == 0) {
      fail(ErrorClass::Usage, {}, "option.value",
           fmt::format("undo: found '{}'; expected how many states to go back, at least 1",
                       printable(invocation.files.front())));
    }
    count = *given;
  }
  const auto to = workspace.log().back(count);
  if (!to) {
    const std::size_t before = workspace.log().way_to(workspace.log().present()).size();
    if (before == 0) return "nothing to undo: this is the start";
    return fmt::format("nothing undone: {} {} before this one", counted(before, "state"),
                       before == 1 ? "lies" : "lie");
  }
  const bool made_again = workspace.undo(*to);
  return arrived(workspace, made_again);
}

ScriptValue run_redo(Invocation& invocation) {
  take_at_most(invocation, 0, "nothing");
  Workspace& workspace = *invocation.workspace;
  if (!workspace.log().forward()) return "nothing to redo: no undo came before, or something was run since";
  const bool made_again = workspace.redo();
  return arrived(workspace, made_again);
}

ScriptValue run_goto(Invocation& invocation) {
  if (invocation.files.size() != 1) {
    fail(ErrorClass::Usage, {}, "command.subject",
         "goto takes the number of an input, or the name of a branch or snapshot");
  }
  Workspace& workspace = *invocation.workspace;
  const bool made_again =
      workspace.go_to(workspace.node_named(invocation.files.front()), invocation.files.front());
  return arrived(workspace, made_again);
}

constexpr Example undo_examples[] = {{"", ":undo"}, {"", ":undo 3"}};
constexpr Example redo_examples[] = {{"", ":redo"}};
constexpr Example goto_examples[] = {{"", ":goto 12"}, {"", ":goto before"}};

}  // namespace

extern const Command command_undo;
const Command command_undo{
    .name = "undo",
    .summary = "goes back to the state before, or over several",
    .run = run_undo,
    .examples = undo_examples,
    .doc =
        "An input that changes something makes a state; one that only shows does not. Files that were "
        "written stay as they are.",
    .surfaces = in_session,
    .arguments = "[N]",
};

extern const Command command_redo;
const Command command_redo{
    .name = "redo",
    .summary = "goes forward again to the state that :undo left",
    .run = run_redo,
    .examples = redo_examples,
    .surfaces = in_session,
};

extern const Command command_goto_state;
const Command command_goto_state{
    .name = "goto",
    .summary = "goes to any state of the session",
    .run = run_goto,
    .examples = goto_examples,
    .doc =
        "A state is named by the number of an input, by a branch or by a snapshot. What is run there "
        "begins a branch of its own, unless a branch ends there.",
    .surfaces = in_session,
    .arguments = "N|NAME",
};

}  // namespace relish::commands_moves
