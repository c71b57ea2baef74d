// The command `ops`: the table of operators.
#include "shell/commands/operator_page.h"
#include "shell/commands/subject.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr Option options[] = {
    {"json", OptionKind::Flag, "", "one JSON object an operator"},
    {"coverage", OptionKind::Flag, "", "which hooks every operator has"},
    {"markdown", OptionKind::Flag, "", "the manual's page of all operators", 0, in_shell},
};

constexpr Example examples[] = {{"relish ops --json", "ops(\"matmul\")"}};

ScriptValue run(Invocation& invocation) {
  start_language();
  if (!invocation.files.empty()) {
    std::string name = invocation.files.front();
    if (name.starts_with("R.")) name = name.substr(2);
    const Op* op = find_op(name);
    if (!op) {
      std::vector<std::string> names = op_names();
      fail(ErrorClass::Usage, invocation.span, "op.unknown",
           fmt::format("unknown operator '{}'{}", printable(name), did_you_mean(name, names)));
    }
    return invocation.flag("json") ? operator_json(*op) : operator_page(*op);
  }
  if (invocation.flag("coverage")) return operator_coverage();
  if (invocation.flag("markdown")) return operators_manual();
  std::string text;
  std::size_t width = 0;
  for (const Op* op : all_ops()) width = std::max(width, op->name.size());
  for (const Op* op : all_ops()) {
    if (!text.empty()) text += '\n';
    text += invocation.flag("json") ? operator_json(*op) : fmt::format("{:<{}}  {}", op->name, width, op->summary);
  }
  return text;
}

}  // namespace

extern const Command command_ops;
const Command command_ops{
    .name = "ops",
    .summary = "lists the operators, or shows one",
    .subject = Subject::Name,
    .options = options,
    .run = run,
    .examples = examples,
    .subject_optional = true,
};

}  // namespace relish
