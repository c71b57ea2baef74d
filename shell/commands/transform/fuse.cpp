// The command `fuse`.
#include "schedule/fusion/fuse.h"

#include "loops/prim_calls.h"
#include "shell/commands/subject.h"
#include "transform/legalize.h"

namespace relish::commands_fuse {
namespace {

constexpr Option options[] = {output_option, dialect_option};
constexpr Example examples[] = {{"relish fuse m.relish -o fused.relish", "F = fuse(M)"}};

ScriptValue run(Invocation& invocation) {
  return module_result(fuse(legalize(prim_calls_inlined(invocation.module))));
}

}  // namespace

extern const Command command_fuse;
const Command command_fuse{
    .name = "fuse",
    .summary = "lowers operator calls and makes one prim_func of calls whose loops can be one",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .transforms = true,
};

}  // namespace relish::commands_fuse
