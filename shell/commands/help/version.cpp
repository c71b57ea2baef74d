// The command `version`.
#include "shell/version.h"
#include "shell/commands/subject.h"

namespace relish::commands_version {
namespace {

ScriptValue run(Invocation&) { return version_text(); }

}  // namespace

extern const Command command_version;
const Command command_version{
    .name = "version",
    .summary = "prints the version",
    .subject = Subject::None,
    .run = run,
};

}  // namespace relish::commands_version
