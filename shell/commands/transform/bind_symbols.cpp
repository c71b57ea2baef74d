// The command `bind_symbols`.
#include "transform/bind_symbols.h"

#include "shell/commands/subject.h"
#include "shell/program/call_values.h"

namespace relish::commands_bind_symbols {
namespace {

constexpr Option options[] = {
    {"dim", OptionKind::Assignments, "", "sizes of symbolic dimensions: n=8,m=4"},
    output_option,
    dialect_option,
};
constexpr Example examples[] = {
    {"relish bind-symbols m.relish -f main --dim n=8,m=4", "N = bind_symbols(M.main, dim={\"n\": 8})"}};

ScriptValue run(Invocation& invocation) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, size] : given_dims(invocation)) sizes[name] = size;
  return module_result(bind_symbols(*invocation.module, function_of(invocation), sizes));
}

}  // namespace

extern const Command command_bind_symbols;
const Command command_bind_symbols{
    .name = "bind_symbols",
    .summary = "turns symbolic sizes of a function into numbers",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc = "Sizes that the types of the parameters name; the others stay symbolic.",
    .transforms = true,
};

}  // namespace relish::commands_bind_symbols
