// The command `:redo-derived`: functions that commands made of others are made anew from these as they are
// now.
#include <algorithm>

#include "shell/commands/subject.h"
#include "shell/workspace/origins.h"
#include "shell/workspace/workspace.h"
#include "support/render.h"

namespace relish::commands_redo_derived {
namespace {

ModulePtr module_named(const Workspace& workspace, const std::string& name) {
  const ScriptValue* value = workspace.script().environment().find(name);
  const auto* module = value ? value->as<ModulePtr>() : nullptr;
  if (!module) {
    fail(ErrorClass::Usage, {}, "command.subject",
         fmt::format("redo-derived: '{}' is {}; expected the name of a module", printable(name),
                     value ? describe(*value) : "not bound"));
  }
  return *module;
}

// The first stale function whose source is as it should be.
std::optional<GlobalFunction> first_stale(const Module& module) {
  const std::vector<GlobalFunction> stale = stale_functions(module);
  for (const GlobalFunction& function : stale) {
    const bool waits = std::any_of(stale.begin(), stale.end(), [&](const GlobalFunction& other) {
      return name_of(other) == origin_of(function)->source;
    });
    if (!waits) return function;
  }
  return std::nullopt;
}

ScriptValue run(Invocation& invocation) {
  if (invocation.files.size() != 1)
    fail(ErrorClass::Usage, {}, "command.subject", "redo-derived takes the name of a module");
  Workspace& workspace = *invocation.workspace;
  const std::string& name = invocation.files.front();
  bool any = false;
  // Each round makes one function fresh.
  for (std::size_t rounds = module_named(workspace, name)->functions.size(); rounds > 0; --rounds) {
    const auto stale = first_stale(*module_named(workspace, name));
    if (!stale) break;
    const OriginPtr origin = origin_of(*stale);
    if (!origin->options) {
      fail(ErrorClass::Usage, {}, "redo_derived.options",
           fmt::format("'{}' was made by {} with options that came by * or **, which no text says; make it "
                       "again by hand",
                       name_of(*stale), origin->command));
    }
    const std::string text = fmt::format("{0} = {1}({0}.{2}{3}{4})", name, origin->command, origin->source,
                                         origin->options->empty() ? "" : ", ", *origin->options);
    invocation.session.print(text);
    workspace.run(fmt::format("<in {}>", workspace.next_input() - 1), text + "\n");
    any = true;
  }
  if (!any) return fmt::format("nothing in {} is stale", name);
  return {};
}

constexpr Example examples[] = {{"", ":redo-derived M"}};

}  // namespace

extern const Command command_redo_derived;
const Command command_redo_derived{
    .name = "redo_derived",
    .summary = "makes the stale functions of a module anew",
    .run = run,
    .examples = examples,
    .doc =
        "A function that a command made is stale when the function that it was made from is another one by "
        "now. The command runs again with its options on what stands there now.",
    .surfaces = in_session,
    .arguments = "M",
};

}  // namespace relish::commands_redo_derived
