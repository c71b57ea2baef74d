// The command `:fix`: the input that failed last, with what its diagnostics propose.
#include "shell/commands/subject.h"
#include "shell/workspace/workspace.h"
#include "support/failure.h"

namespace relish::commands_fix {
namespace {

ScriptValue run(Invocation& invocation) {
  if (!invocation.files.empty()) fail(ErrorClass::Usage, {}, "command.subject", "fix takes nothing");
  Proposal& proposal = invocation.workspace->proposal();
  if (!proposal.corrected) {
    fail(ErrorClass::Usage, {}, "fix.nothing", "nothing to correct: no input has failed");
  }
  proposal.corrected_wanted = true;
  return {};
}

constexpr Example examples[] = {{"", ":fix"}};

}  // namespace

extern const Command command_fix;
const Command command_fix{
    .name = "fix",
    .summary = "puts the input that failed last into the line, with the words that its messages propose",
    .run = run,
    .examples = examples,
    .doc = "Nothing runs before Enter.",
    .surfaces = in_session,
};

}  // namespace relish::commands_fix
