// The command `topological_sort`.
#include "transform/topological_sort.h"

#include <fmt/format.h>

#include "shell/commands/subject.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_topological_sort {
namespace {

constexpr Option options[] = {
    {"order", OptionKind::Text, "depth", "depth or breadth"}, output_option, dialect_option};
constexpr Example examples[] = {
    {"relish topological-sort m.relish --order breadth", "S = topological_sort(M, order=\"breadth\")"}};

ScriptValue run(Invocation& invocation) {
  const std::string order = invocation.text("order", "depth");
  const std::vector<std::string> orders{"depth", "breadth"};
  if (order != orders[0] && order != orders[1])
    fail(ErrorClass::Usage, invocation.span_of("order"), "topological_sort.order",
         fmt::format("order: found '{}'; expected depth or breadth{}", printable(order),
                     did_you_mean(order, orders)));
  return module_result(topological_sort(
      *invocation.module, order == orders[0] ? TopologicalOrder::Depth : TopologicalOrder::Breadth));
}

}  // namespace

extern const Command command_topological_sort;
const Command command_topological_sort{
    .name = "topological_sort",
    .summary = "orders the bindings of dataflow blocks by depth or by breadth",
    .subject = Subject::Module,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "By depth each value stands directly before what first takes it; by breadth first comes what is made of what stands before the block, then what is made of that.",
    .transforms = true,
};

}  // namespace relish::commands_topological_sort
