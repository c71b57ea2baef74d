// The command `passes`: transforms one after the other.
#include <algorithm>

#include "ir/calls/roles.h"
#include "ir/printer/printer.h"
#include "ir/verify/verify.h"
#include "shell/commands/subject.h"
#include "shell/commands/transform/pass_check.h"
#include "shell/commands/transform/pass_text.h"
#include "shell/program/text_diff.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_passes {
namespace {

constexpr Option options[] = {
    {"passes", OptionKind::Text, "", "transforms: \"append_loss(cross_entropy), gradient(wrt=[w0])\"", 'p',
     everywhere, true},
    {"print_each", OptionKind::Flag, "", "print the module after every pass"},
    {"diff", OptionKind::Flag, "",
     "print what every pass would change, as a unified diff of the texts; nothing changes"},
    {"check_each", OptionKind::Flag, "",
     "verify the module after every pass, and run what it changed, before and after, on random inputs"},
    output_option,
    dialect_option,
};

constexpr Example examples[] = {
    {"relish passes m.relish -f main -p \"append_loss(cross_entropy), gradient, legalize\"",
     "N = passes(M.main, passes=\"append_loss(cross_entropy), gradient, legalize\")"},
};

const Command& transform_named(const Invocation& invocation, const std::string& name) {
  const Command* command = find_command(name);
  if (command && command->transforms) return *command;
  std::vector<std::string> names;
  for (const Command* candidate : all_commands()) {
    if (candidate->transforms) names.emplace_back(candidate->name);
  }
  fail(ErrorClass::Usage, invocation.span, "passes.name",
       fmt::format("unknown pass '{}'{}", name, did_you_mean(name, names)));
}

void set_arguments(Invocation& call, const PassCall& pass, const ValueText& text) {
  std::vector<const Option*> options;
  std::vector<std::string> names;
  for (const Option& option : call.command.options) {
    if (!(option.surfaces & in_scripts)) continue;
    options.push_back(&option);
    names.emplace_back(option.name);
  }
  std::size_t position = 0;
  for (const WrittenValue& argument : pass.arguments) {
    const bool named = argument.kind == WrittenValue::Kind::Argument;
    std::string name = named ? script_name(argument.text) : (position < names.size() ? names[position] : "");
    ++position;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string written = named ? argument.text : std::string(text.source(argument));
      fail(ErrorClass::Usage, call.span, "passes.option",
           fmt::format("{}: unknown option '{}'{}", pass.name, printable(written),
                       did_you_mean(written, names)));
    }
    const OptionKind kind = options[static_cast<std::size_t>(found - names.begin())]->kind;
    call.set(name, pass_argument(text, kind, named ? argument.items[0] : argument));
  }
  for (const Option& option : call.command.options) {
    if (option.required && (option.surfaces & in_scripts) && !call.given(option.name)) {
      fail(ErrorClass::Usage, call.span, "passes.option",
           fmt::format("{}: the option '{}' is missing", pass.name, option.name));
    }
  }
}

// The function that the next pass works on: the one that this pass made of `function`, or made anew, or
// `function` itself. A pass over the whole module makes none.
std::string next_function(const Command& pass, const Module& before, const Module& after,
                          const std::string& function) {
  if (pass.subject != Subject::Function) return function;
  const auto made = [&](const std::string& name) {
    return after.function(name) && after.function(name) != before.function(name);
  };
  for (const std::string& name : after.names())
    if (made(name) && has_role(*after.function(name), "train_step")) return name;
  for (const char* suffix : {"_adjoint", "_loss"})
    if (made(function + suffix)) return function + suffix;
  std::vector<std::string> fresh;
  for (const std::string& name : after.names()) {
    if (made(name) && !before.find(name)) fresh.push_back(name);
  }
  return fresh.size() == 1 ? fresh.front() : function;
}

ScriptValue run(Invocation& invocation) {
  if (invocation.flag("diff") && invocation.given("output")) {
    fail(ErrorClass::Usage, invocation.span, "passes.diff",
         "--diff shows what the passes change and writes nothing; -o contradicts it");
  }
  ModulePtr module = invocation.module;
  std::string function = invocation.function;
  const std::string written = invocation.text("passes");
  if (written.find_first_not_of(" \t\n") == std::string::npos)
    invocation.refuse_value("passes", "found no pass; expected one such as gradient(wrt=[w0])");
  ValueText text(written, invocation.surface == Surface::Shell ? "passes: -p" : "passes");
  for (const PassCall& pass : parse_passes(text)) {
    const Command& command = transform_named(invocation, pass.name);
    Invocation call(invocation.session, command, Surface::Script, invocation.span);
    call.script = invocation.script;
    call.program = invocation.program;
    call.module = module;
    if (command.subject == Subject::Function) {
      if (function.empty()) function = default_function(*module, invocation.span);
      call.function = function;
    }
    set_arguments(call, pass, text);
    ModulePtr result = *command.run(call).as<ModulePtr>();
    if (invocation.flag("check_each")) {
      verify_after(*result, command.name);
      check_computes_the_same(invocation.session, command.name, module, result);
    }
    if (invocation.flag("print_each")) {
      invocation.session.print(fmt::format("# after {}", command.name));
      invocation.session.output().write(print(*result));
    }
    if (invocation.flag("diff")) {
      std::string changes = text_diff(print(*module), print(*result));
      invocation.session.print(
          fmt::format("# after {}{}", command.name, changes.empty() ? ": no change" : ""));
      invocation.session.output().write(changes);
    }
    if (!function.empty()) function = next_function(command, *module, *result, function);
    module = result;
  }
  // With --print-each the last text stands there already; --diff only shows.
  const bool shell = invocation.surface == Surface::Shell;
  if (invocation.flag("diff")) return shell ? ScriptValue() : ScriptValue(invocation.module);
  if (shell && invocation.flag("print_each") && !invocation.given("output")) return {};
  return module;
}

}  // namespace

extern const Command command_passes;
const Command command_passes{
    .name = "passes",
    .summary = "runs transforms one after the other",
    .subject = Subject::Function,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "A pass works on the function that the pass before it made: after append_loss on `main` comes "
        "gradient on "
        "`main_loss`. In a pass a bare name is a string.",
    .transforms = true,
};

}  // namespace relish::commands_passes
