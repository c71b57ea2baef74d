// The command `doc`: the page of an operator, command, built-in, or entry of the catalog.
#include "shell/commands/operator_page.h"
#include "shell/commands/subject.h"
#include "shell/script/builtins.h"
#include "stdlib/catalog_doc.h"
#include "stdlib/op_doc.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

constexpr Example examples[] = {{"relish doc nn.relu", "doc(\"gradient\")"},
                                {"relish doc adam", "doc(\"cross_entropy\")"}};

ScriptValue run(Invocation& invocation) {
  start_language();
  if (invocation.files.empty()) {
    fail(ErrorClass::Usage, invocation.span, "doc.name",
         "doc takes the name of an operator, command or built-in as a str");
  }
  std::string name = invocation.files.front();
  if (!name.starts_with("R.")) {
    if (const Command* command = find_command(name)) return command_help(*command);
  }
  std::string short_name = name.starts_with("R.") ? name.substr(2) : name;
  if (const Op* op = find_op(short_name)) return operator_page(*op, invocation.session.settings());
  if (auto successor = successor_of(short_name)) return fmt::format("{} is today {}", short_name, *successor);
  if (const Builtin* builtin = find_builtin(name)) return std::string(builtin->synopsis);
  if (auto page = catalog_page(name)) return *page;
  std::vector<std::string> names = op_names();
  for (const std::string& entry : catalog_names()) names.push_back(entry);
  for (const Command* command : all_commands()) names.emplace_back(command->name);
  for (const Builtin& builtin : all_builtins()) names.emplace_back(builtin.name);
  fail(ErrorClass::Usage, invocation.span, "doc.name",
       fmt::format("nothing is known of '{}'{}", printable(name), did_you_mean(short_name, names)));
}

}  // namespace

extern const Command command_doc;
const Command command_doc{
    .name = "doc",
    .summary = "shows the page of an operator, command, built-in, loss or optimizer",
    .subject = Subject::Name,
    .run = run,
    .examples = examples,
    .subject_optional = true,
};

}  // namespace relish
