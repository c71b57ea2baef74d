// The command `gradient`.
#include "transform/gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/commands/subject.h"
#include "shell/commands/transform/memory_budget.h"
#include "support/render.h"
#include "support/source.h"

namespace relish::commands_gradient {
namespace {

constexpr Option options[] = {
    {"wrt", OptionKind::Names, "all floating tensor parameters",
     "names to differentiate by: parameters or intermediates"},
    {"target", OptionKind::Path, "the result, or field 0 of a tuple",
     "index path of the differentiated value in the result"},
    {"named", OptionKind::Flag, "",
     "statements get the gradients as a dict by these names; a function that calls it still gets a tuple"},
    {"memory_budget", OptionKind::Text, "", memory_budget_doc},
    {"dim", OptionKind::Assignments, "", budget_dims_doc},
    {"dry_run", OptionKind::Flag, "", "show what would be done with each binding; nothing is made"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish gradient m.relish -f main_loss --wrt w0,b0", "dM = gradient(M.main_loss, wrt=[\"w0\", \"b0\"])"},
};

std::int64_t line_of(Span span) {
  const SourceFile* source = Sources::instance().find(span.file);
  return source ? static_cast<std::int64_t>(source->position(span.begin).line) : 0;
}

// A table for each function on the path.
std::string table(const std::vector<GradientLine>& lines) {
  std::size_t name = 7, rule = 4, kept = 4;
  for (const GradientLine& line : lines) {
    name = std::max(name, line.binding.size());
    rule = std::max(rule, line.rule.size());
    kept = std::max(kept, line.kept.size());
  }
  std::string text, function;
  for (const GradientLine& line : lines) {
    if (line.function != function) {
      text +=
          fmt::format("{}{}\n{:>6}  {:<{}}  {:<6}  {:<{}}  {:<{}}  {:>12}\n", text.empty() ? "" : "\n",
                      line.function, "line", "binding", name, "active", "rule", rule, "kept", kept, "bytes");
    }
    function = line.function;
    const std::int64_t at = line_of(line.span);
    const std::string bytes = line.kept.empty() ? "" : line.bytes ? std::to_string(*line.bytes) : "not known";
    std::string row = fmt::format("{:>6}  {:<{}}  {:<6}  {:<{}}  {:<{}}  {:>12}",
                                  at > 0 ? std::to_string(at) : "-", printable(line.binding), name,
                                  line.active ? "yes" : "no", line.rule, rule, line.kept, kept, bytes);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// As with `passes --diff`, what is given stays.
ScriptValue dry_run(Invocation& invocation, const GradientOptions& wanted) {
  if (invocation.given("output")) {
    fail(ErrorClass::Usage, invocation.span, "gradient.dry_run",
         "--dry-run shows what would be done and writes nothing; -o contradicts it");
  }
  invocation.session.print(table(account_of_gradient(*invocation.module, function_of(invocation), wanted)));
  return invocation.surface == Surface::Shell ? ScriptValue() : ScriptValue(invocation.module);
}

ScriptValue run(Invocation& invocation) {
  GradientOptions wanted;
  wanted.wrt = invocation.names("wrt");
  wanted.target = invocation.path("target");
  wanted.named = invocation.flag("named");
  if (invocation.flag("dry_run")) return dry_run(invocation, wanted);
  wanted.budget = memory_budget_option(invocation);
  BudgetReport report;
  wanted.report = &report;
  Module made = gradient(*invocation.module, function_of(invocation), wanted);
  if (wanted.budget) tell_budget(invocation, report);
  return module_result(std::move(made));
}

}  // namespace

extern const Command command_gradient;
const Command command_gradient{
    .name = "gradient",
    .summary = "adds <f>_adjoint, the reverse-mode gradient of a function",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Adds `<f>_adjoint(params…) -> (outputs, (gradients…))` to the module. The differentiated value is a "
        "scalar; "
        "give a loss by append_loss first. With `dry_run` a table tells for each binding on the way whether it is "
        "active, by which rule it is gone back through, and what is kept of it in how many bytes; of a "
        "prim_func whether its adjoint has its values from buffers, computes them again or takes them off a "
        "tape. With `memory_budget` the adjoint keeps less of the way there and computes it again, as little work "
        "as that takes; a note tells the peak that compiled code will have, as `memory` does, and the work that was "
        "added.",
    .transforms = true,
};

}  // namespace relish::commands_gradient
