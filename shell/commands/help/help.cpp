// The command `help`.
#include "shell/commands/subject.h"
#include "shell/program/told_table.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_help {
namespace {

constexpr Example examples[] = {{"relish help gradient", "help(\"gradient\")"}};

constexpr Option options[] = {
    {"markdown", OptionKind::Flag, "", "the manual's page of all commands", 0, in_shell},
};

// help(M): what a value is, and what is done with one of its kind.
ScriptValue value_help(Invocation& invocation) {
  std::string text = *find_command("type")->run(invocation).string();
  if (invocation.value.as<ModulePtr>() || invocation.value.as<FunctionReference>()) {
    text += "\n\nCommands that take it:";
    for (const Command* command : all_commands()) {
      const bool takes = command->subject == Subject::Module || command->subject == Subject::Function ||
                         command->subject == Subject::Call;
      if (takes && (command->surfaces & in_scripts))
        text += fmt::format("\n  {:<16} {}", command->name, command->summary);
    }
  }
  return text;
}

ScriptValue run(Invocation& invocation) {
  if (invocation.flag("markdown")) return commands_manual();
  const bool of_value = invocation.files.empty() && !invocation.value.is_none();
  if (of_value) return value_help(invocation);
  if (invocation.files.empty()) return command_list_help();
  std::string& name = invocation.files.front();
  if (name.starts_with(':')) name.erase(0, 1);  // :help :undo
  if (const Command* command = find_command(name)) {
    std::string page = command_help(*command);
    tell_page(page);
    return page;
  }
  // Operators and built-ins have pages too.
  return find_command("doc")->run(invocation);
}

}  // namespace

extern const Command command_help_page;
const Command command_help_page{
    .name = "help",
    .summary = "lists the commands, or shows the page of one name",
    .subject = Subject::Name,
    .options = options,
    .run = run,
    .examples = examples,
    .subject_optional = true,
};

}  // namespace relish::commands_help
