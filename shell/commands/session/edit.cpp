// The command `:edit`: a function, a module or an earlier input in the user's editor.
#include <algorithm>

#include "ir/printer/printer.h"
#include "shell/commands/subject.h"
#include "shell/program/external_editor.h"
#include "shell/workspace/workspace.h"
#include "support/failure.h"
#include "support/render.h"
#include "support/value_text.h"

namespace relish::commands_edit {
namespace {

// A text to be edited, as the input that it becomes part of.
struct Edited {
  std::string text;
  std::string before, behind;  // of the input
  std::string indentation;     // of the text in it
};

std::string text_of(const GlobalFunction& function) {
  if (const auto* graph = std::get_if<FunctionPtr>(&function)) return print(**graph);
  if (const auto* loops = std::get_if<PrimFuncPtr>(&function)) return print(**loops);
  return {};
}

std::string indented(const std::string& text, const std::string& by) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text[at] != '\n') result += by;
    result += text.substr(at, end - at);
    at = end;
  }
  return result;
}

// The function within its module, whose text stays as it is around it; the whole module where the function
// has no place of its own in that.
Edited of_function(const Module& module, const GlobalFunction& function) {
  Edited edited;
  const std::string whole = print(module);
  edited.text = text_of(function);
  edited.indentation = "    ";
  const std::string part = indented(edited.text, edited.indentation);
  const std::size_t at = part.empty() ? std::string::npos : whole.find(part);
  if (at == std::string::npos) return {whole, "", "", ""};
  edited.before = whole.substr(0, at);
  edited.behind = whole.substr(at + part.size());
  return edited;
}

Edited of_input(Workspace& workspace, std::size_t node) {
  const auto text = workspace.log().node(node).made_by.plain();
  if (node == Log::root || !text || text->empty())
    fail(ErrorClass::Usage, {}, "edit.input", "no text stands for that input; edit a function or a module");
  return {*text, "", "", ""};
}

Edited edited_of(Workspace& workspace, const std::vector<std::string>& words) {
  if (words.empty()) return of_input(workspace, workspace.log().present());
  const std::string& word = words.front();
  if (word.find_first_not_of("0123456789") == std::string::npos) {
    const std::size_t node = workspace.node_named(word);
    if (std::to_string(workspace.log().node(node).input) != word) return of_input(workspace, Log::root);
    return of_input(workspace, node);
  }
  if (word.find('@') != std::string::npos) {
    fail(ErrorClass::Usage, {}, "edit.subject",
         fmt::format(
             "edit: '{}' is of another state, and what comes back belongs to the present one; expected "
             "M.f, M, f or the number of an input; :goto goes to that state",
             printable(word)));
  }
  const std::string root = word.substr(0, word.find('.'));
  const ScriptValue* value = workspace.script().environment().find(root);
  const auto* module = value ? value->as<ModulePtr>() : nullptr;
  const auto* free = value ? value->as<FunctionReference>() : nullptr;
  const std::string function = root.size() < word.size() ? word.substr(root.size() + 1) : std::string();
  if (free && function.empty()) return {text_of(*free->module->find(free->name)), "", "", ""};
  if (!module || (!function.empty() && !(*module)->find(function))) {
    fail(ErrorClass::Usage, {}, "edit.subject",
         fmt::format("edit: '{}' is no module, function or number of an input", printable(word)));
  }
  // The class is bound to its own name.
  Module named = **module;
  named.name = root;
  if (function.empty()) return {print(named), "", "", ""};
  return of_function(named, *named.find(function));
}

ScriptValue run(Invocation& invocation) {
  if (invocation.files.size() > 1)
    fail(ErrorClass::Usage, {}, "command.subject", "edit takes M.f, M, f or the number of an input");
  Workspace& workspace = *invocation.workspace;
  if (!workspace.script().options().interactive)
    fail(ErrorClass::Usage, {}, "edit.terminal", "edit is for sessions that somebody types");
  const Edited edited = edited_of(workspace, invocation.files);
  const std::string text = edited_by_user(edited.text);
  if (text == edited.text) return "nothing changed";
  workspace.proposal().to_run = edited.before +
                                (edited.indentation.empty() ? text : indented(text, edited.indentation)) +
                                edited.behind;
  return {};
}

constexpr Example examples[] = {{"", ":edit M.main"}, {"", ":edit 12"}};

}  // namespace

extern const Command command_edit;
const Command command_edit{
    .name = "edit",
    .summary = "opens a function, a module or an earlier input in your editor and runs what comes back",
    .run = run,
    .examples = examples,
    .doc =
        "$VISUAL or $EDITOR names the editor. Nothing runs when the text did not change. The other functions of "
        "the module stay the same ones, so what was made from the old function is stale.",
    .surfaces = in_session,
    .arguments = "[M.f|M|f|N]",
};

}  // namespace relish::commands_edit
