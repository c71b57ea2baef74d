// The commands `:branch`, `:branches`, `:snapshot` and `:history`: names and lists of the session's states.
#include <algorithm>

#include "shell/commands/subject.h"
#include "shell/workspace/state_words.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_states {
namespace {

const std::string& one_name(const Invocation& invocation) {
  if (invocation.files.size() != 1) {
    fail(ErrorClass::Usage, {}, "command.subject",
         fmt::format("{} takes a name", shell_name(invocation.command.name)));
  }
  return invocation.files.front();
}

ScriptValue run_branch(Invocation& invocation) {
  Workspace& workspace = *invocation.workspace;
  workspace.log().name_branch(one_name(invocation));
  return fmt::format("branch {} begins at {}", workspace.log().branch(),
                     place_of(workspace, workspace.log().present()));
}

ScriptValue run_snapshot(Invocation& invocation) {
  Workspace& workspace = *invocation.workspace;
  const std::string& name = one_name(invocation);
  workspace.log().name_snapshot(name);
  return fmt::format("{} is {}", name, place_of(workspace, workspace.log().present()));
}

ScriptValue run_branches(Invocation& invocation) {
  if (!invocation.files.empty()) fail(ErrorClass::Usage, {}, "command.subject", "branches takes no name");
  const Workspace& workspace = *invocation.workspace;
  const Log& log = workspace.log();
  std::string text;
  const auto list = [&](const auto& names, std::string_view kind) {
    for (const auto& [name, node] : names) {
      const bool here = kind == "branch" && name == log.branch();
      text += fmt::format("{} {:<12} {:<8} {}\n", here ? '*' : ' ', name, kind, place_of(workspace, node));
    }
  };
  list(log.branches(), "branch");
  list(log.snapshots(), "snapshot");
  for (const std::size_t id : log.left())
    text += fmt::format("  {:<12} {:<8} {}\n", "-", "left", place_of(workspace, id));
  if (log.branch().empty()) text += "  no branch ends here: what is run next begins one\n";
  text.pop_back();
  return text;
}

// The names that a node bound, changed (~) or unbound (-).
std::string changes_of(Workspace& workspace, std::size_t id) {
  const LogNode& node = workspace.log().node(id);
  const LogNode& parent = workspace.log().node(node.parent);
  std::string text;
  if (node.changes) {
    for (const NameChange& change : *node.changes)
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", change.sign, change.name);
    return text;
  }
  if (!node.state || !parent.state) return "~ made again when it is asked for";
  node.state->names.for_each_difference(
      parent.state->names, [&](const std::string& name, const ScriptValue* here, const ScriptValue* there) {
        const char sign = !here ? '-' : there ? '~' : '+';
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", sign, name);
      });
  return text;
}

bool changed(Workspace& workspace, std::size_t id, const std::string& name) {
  if (const auto& changes = workspace.log().node(id).changes)
    return std::any_of(changes->begin(), changes->end(),
                       [&](const NameChange& change) { return change.name == name; });
  const State& after = workspace.state_of(id);
  const State& before = workspace.state_of(workspace.log().node(id).parent);
  const ScriptValue* here = after.names.find(name);
  const ScriptValue* there = before.names.find(name);
  return (here == nullptr) != (there == nullptr) || (here && !is_same_value(*here, *there));
}

ScriptValue run_history(Invocation& invocation) {
  Workspace& workspace = *invocation.workspace;
  const Log& log = workspace.log();
  if (invocation.given("keep")) {
    workspace.set_budget(parse_size(invocation.text("keep"), "--keep"));
    return fmt::format("values of other states may hold {} bytes", workspace.states().budget());
  }
  if (invocation.files.size() > 1)
    fail(ErrorClass::Usage, {}, "command.subject", "history takes one name at most");
  const std::string* name = invocation.files.empty() ? nullptr : &invocation.files.front();
  std::string text;
  for (const std::size_t id : log.way_to(log.present())) {
    if (name && !changed(workspace, id, *name)) continue;
    const LogNode& node = log.node(id);
    std::string names;
    for (const auto* all : {&log.branches(), &log.snapshots()})
      for (const auto& [known, at] : *all)
        if (at == id && known != "main") names += fmt::format(" ({})", known);
    text += fmt::format("{} {:>3}  {}{}{}{}\n", id == log.present() ? '*' : ' ', node.input, title_of(node),
                        node.stopped ? " [stopped]" : "", names,
                        name ? "" : fmt::format("   {}", changes_of(workspace, id)));
    while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
  }
  if (!text.empty()) {
    text.pop_back();
    return text;
  }
  if (!name) return "no state yet: this is the start";
  std::vector<std::string> names;
  workspace.state().names.for_each(
      [&](const std::string& known, const ScriptValue&) { names.push_back(known); });
  return fmt::format("no state on the way here bound '{}'{}", printable(*name), did_you_mean(*name, names));
}

constexpr Option history_options[] = {
    {"keep", OptionKind::Text, "a fourth of the memory limit",
     "how much the values of other states may hold, as 2GiB; the oldest beyond it are made again when they "
     "are asked for",
     0, in_session},
};

constexpr Example branch_examples[] = {{"", ":branch try"}};
constexpr Example branches_examples[] = {{"", ":branches"}};
constexpr Example snapshot_examples[] = {{"", ":snapshot before"}};
constexpr Example history_examples[] = {{"", ":history"}, {"", ":history M"}};

}  // namespace

extern const Command command_branch;
const Command command_branch{
    .name = "branch",
    .summary = "names the present state as a branch, which moves on with what is run",
    .run = run_branch,
    .examples = branch_examples,
    .surfaces = in_session,
    .arguments = "NAME",
};

extern const Command command_branches;
const Command command_branches{
    .name = "branches",
    .summary = "lists the branches and snapshots",
    .run = run_branches,
    .examples = branches_examples,
    .doc =
        "Below them stand the ends that no name leads to, since they were undone and something else was run; "
        ":goto N still goes there.",
    .surfaces = in_session,
};

extern const Command command_snapshot;
const Command command_snapshot{
    .name = "snapshot",
    .summary = "gives the present state a name that stays with it",
    .run = run_snapshot,
    .examples = snapshot_examples,
    .doc = "NAME@SNAPSHOT is the value of a name in that state, in every expression: M@before.main(x).",
    .surfaces = in_session,
    .arguments = "NAME",
};

extern const Command command_history;
const Command command_history{
    .name = "history",
    .summary = "lists the states on the way to the present one, or those that changed a name",
    .options = history_options,
    .run = run_history,
    .examples = history_examples,
    .doc = "Behind each state stand the names that it bound (+), changed (~) and unbound (-).",
    .surfaces = in_session,
    .arguments = "[NAME]",
};

}  // namespace relish::commands_states
