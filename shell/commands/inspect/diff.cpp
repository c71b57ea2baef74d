// The command `diff`: what two states, modules, functions, tensors, files or jobs differ in.
#include <algorithm>

#include "frontend/module/module_links.h"
#include "runtime/files.h"
#include "shell/commands/subject.h"
#include "shell/commands/training/run_difference.h"
#include "shell/program/terminal_width.h"
#include "shell/script/unread_value.h"
#include "shell/workspace/difference.h"
#include "shell/workspace/workspace.h"
#include "support/render.h"

namespace relish::commands_diff {
namespace {

constexpr Option options[] = {
    {"side", OptionKind::Flag, "", "side by side", 0, in_shell | in_session},
    {"json", OptionKind::Flag, "", "as JSON: equal, added, removed, renamed, changed", 0,
     in_shell | in_session},
};

constexpr Example examples[] = {
    {"relish diff a.relish b.relish", ":diff"},
    {"", ":diff M@before M"},
    {"relish diff runs/train-1 runs/train-2", ":diff runs/train-1 runs/train-2"},
};

ScriptValue shown(Invocation& invocation, const Difference& difference) {
  if (!difference.equal() && !invocation.workspace) invocation.exit_code = 1;
  if (invocation.flag("json")) return json_text(difference);
  if (!invocation.flag("side")) return unified_text(difference);
  return side_by_side_text(difference, terminal_columns(side_by_side_columns));
}

// The value of a file: its modules by name, or its tensors.
ScriptValue value_of_file(const Invocation& invocation, const std::string& path) {
  if (!is_program_path(path) && path != "-") {
    std::vector<std::pair<ScriptValue, ScriptValue>> items;
    for (auto& [name, tensor] : read_tensors(path)) items.emplace_back(name, std::move(tensor));
    return ScriptValue::dict(std::move(items));
  }
  const ProgramFile program = read_program(path, path_rules_beside(invocation.session, path));
  invocation.session.report(program.warnings);
  const std::vector<ModulePtr> modules = program.modules();
  // One module is compared with another whatever both are called.
  if (modules.size() == 1) return modules.front();
  std::vector<std::pair<ScriptValue, ScriptValue>> items;
  for (const ModulePtr& module : modules) items.emplace_back(module->name, module);
  return ScriptValue::dict(std::move(items));
}

ScriptValue by_name(ScriptValue value) {
  const auto* module = value.as<ModulePtr>();
  if (!module) return value;
  return ScriptValue::dict({{ScriptValue((*module)->name), value}});
}

// What a word means: a state, by number or by a name that nothing is bound to, or the value of an expression.
struct Side {
  std::optional<std::size_t> node;
  ScriptValue value;
};

Side side_of(Workspace& workspace, const std::string& word) {
  const bool number = word.find_first_not_of("0123456789") == std::string::npos;
  const bool state = workspace.log().named(word) && !workspace.script().environment().find(word);
  if (number || state) return {workspace.node_named(word), {}};
  const auto source = Sources::instance().add(fmt::format("<in {}>", workspace.next_input() - 1), word);
  return {std::nullopt, workspace.script().evaluate(source)};
}

// The value that the expression's name had before it came to the present one.
Difference since_last_change(Workspace& workspace, const std::string& word, const ScriptValue& now) {
  const std::string name = word.substr(0, word.find('.'));
  const ScriptValue* present = workspace.state().names.find(name);
  if (!present) {
    fail(ErrorClass::Usage, {}, "diff.side",
         fmt::format("diff: '{}' alone is no state and no name; write two expressions", printable(word)));
  }
  for (std::size_t id = workspace.log().present(); id != Log::root; id = workspace.log().node(id).parent) {
    const std::size_t parent = workspace.log().node(id).parent;
    const ScriptValue* before = workspace.state_of(parent).names.find(name);
    if (before && is_same_value(*before, *present)) continue;
    if (!before) {
      Difference difference;
      difference.added.push_back(word);
      return difference;
    }
    if (word == name) return difference_of(read_value(*before), now, word);
    const auto* module = read_value(*before).as<ModulePtr>();
    const std::string function = word.substr(name.size() + 1);
    if (module && (*module)->find(function))
      return difference_of(FunctionReference{*module, function}, now, word);
    Difference difference;
    difference.added.push_back(word);
    return difference;
  }
  return {};
}

Difference session_difference(Workspace& workspace, const std::vector<std::string>& words) {
  Log& log = workspace.log();
  if (words.empty()) {
    const State before = workspace.state_of(log.node(log.present()).parent);
    return difference_of(before, workspace.state());
  }
  const Side first = side_of(workspace, words[0]);
  if (words.size() == 1) {
    if (!first.node) return since_last_change(workspace, words[0], first.value);
    const State before = workspace.state_of(*first.node);
    return difference_of(before, workspace.state());
  }
  const Side second = side_of(workspace, words[1]);
  if (first.node.has_value() != second.node.has_value()) {
    fail(ErrorClass::Usage, {}, "diff.side",
         fmt::format("diff: '{}' is a state and '{}' is not; compare two states or two values",
                     printable(words[first.node ? 0 : 1]), printable(words[first.node ? 1 : 0])));
  }
  if (!first.node) {
    std::string name = words[1].substr(0, words[1].find('@'));
    if (name.find_first_of("([ ") != std::string::npos) name.clear();
    return difference_of(first.value, second.value, name);
  }
  const State before = workspace.state_of(*first.node);
  return difference_of(before, workspace.state_of(*second.node));
}

bool are_run_folders(const std::vector<std::string>& words) {
  return words.size() == 2 &&
         std::all_of(words.begin(), words.end(), [](const std::string& word) { return is_job_folder(word); });
}

ScriptValue shown(Invocation& invocation, const RunDifference& difference) {
  if (invocation.flag("side"))
    invocation.refuse_value("side", "it goes with modules; jobs stand side by side as they are");
  if (!difference.equal() && !invocation.workspace) invocation.exit_code = 1;
  if (invocation.flag("json")) return json_of_difference(difference);
  const std::string text = text_of_difference(difference);
  return text.empty() ? ScriptValue() : ScriptValue(text);
}

ScriptValue run(Invocation& invocation) {
  const std::vector<std::string>& words = invocation.files;
  if (invocation.flag("side") && invocation.flag("json"))
    fail(ErrorClass::Usage, {}, "diff.form", "diff: --side and --json contradict each other");
  if (are_run_folders(words))
    return shown(invocation, difference_of_runs(read_run(words[0]), read_run(words[1])));
  if (invocation.workspace) {
    if (words.size() > 2)
      fail(ErrorClass::Usage, {}, "command.subject", "diff takes two states or values at most");
    return shown(invocation, session_difference(*invocation.workspace, words));
  }
  if (words.size() != 2) fail(ErrorClass::Usage, {}, "command.subject", "diff takes two files");
  ScriptValue before = value_of_file(invocation, words[0]), after = value_of_file(invocation, words[1]);
  // Where one of the files has several modules, those of both are told apart by their names.
  if (before.dictionary() || after.dictionary())
    before = by_name(std::move(before)), after = by_name(std::move(after));
  return shown(invocation, difference_of(before, after));
}

}  // namespace

extern const Command command_diff;
const Command command_diff{
    .name = "diff",
    .summary = "shows what two states, modules, functions, files or jobs differ in",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "In a session a state is a number, a branch or a snapshot; without one, it shows what the last state "
        "changed, with a name what its last change was. Functions are compared by what their lines do: names "
        "of bindings alone make no difference. Of two run folders it shows the options and metrics that are not "
        "the same; times do not count. In the shell it exits with 1 where there is a difference.",
    .surfaces = in_shell | in_session,
    .arguments = "[A [B]]",
};

}  // namespace relish::commands_diff
