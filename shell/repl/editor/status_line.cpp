// Signatures, and the place in the session.
#include "shell/repl/editor/status_line.h"

#include "ir/operators/op.h"
#include "shell/command.h"
#include "shell/repl/completion/completion_sources.h"
#include "shell/repl/completion/cursor_place.h"
#include "shell/script/builtins.h"
#include "shell/workspace/workspace.h"
#include "stdlib/op_doc.h"

namespace relish {
namespace {

// How the call is written; empty for one of nothing that is known.
std::string signature_of(const Workspace& workspace, std::string_view callee) {
  if (callee.empty()) return {};
  if (callee.starts_with("R.")) {
    const Op* op = find_op(callee.substr(2));
    return op ? op_signature(*op) : std::string();
  }
  const CompletionSources sources(workspace);
  if (sources.is_bound(callee)) {
    std::string text;
    for (const Candidate& parameter : sources.parameters(callee))
      text +=
          (text.empty() ? "" : ", ") + parameter.text + (parameter.doc.empty() ? "" : ": ") + parameter.doc;
    return text.empty() ? text : std::string(callee) + "(" + text + ")";
  }
  if (const Builtin* builtin = find_builtin(callee))
    return std::string(builtin->synopsis.substr(0, builtin->synopsis.find('\n')));
  const Command* command = find_command(callee);
  return command && (command->surfaces & in_scripts) ? fmt::format("{}: {}", command->name, command->summary)
                                                     : std::string();
}

}  // namespace

std::string status_line(const Workspace& workspace, std::string_view text) {
  const CursorPlace place = cursor_place(text);
  const std::string signature = signature_of(workspace, place.callee);
  if (!signature.empty()) return signature;
  if (place.command_line) {
    std::string_view name = place.command.empty() ? place.word : place.command;
    if (name.starts_with(':')) name.remove_prefix(1);
    // The function of that name writes values; the command is the session's own.
    if (name == "save")
      return ":save FILE [--overwrite]: writes the session, FILE.rxs with the values of all its states";
    const Command* command = find_command(name);
    if (command && is_session_command(*command)) return std::string(command->summary);
  }
  const Log& log = workspace.log();
  const std::string branch = log.branch().empty() ? "no branch" : log.branch();
  const std::size_t input = log.node(log.present()).input;
  return fmt::format("{}, {} | {}", branch, input == 0 ? "the start" : fmt::format("state {}", input),
                     workspace.state().options.tier);
}

}  // namespace relish
