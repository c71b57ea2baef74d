// The command `check`.
#include "ir/verify/verify.h"
#include "shell/commands/subject.h"
#include "support/render.h"

namespace relish::commands_check {
namespace {

constexpr Option options[] = {
    {"json", OptionKind::Flag, "", "one JSON object a diagnostic", 0, in_shell},
};

constexpr Example examples[] = {{"relish check a.relish b.relish", "check(M)"}};

// All diagnostics of a file; the exit code of its first error.
int check_file(const Session& session, const std::string& path, std::vector<Diagnostic>& into) {
  try {
    ProgramFile program = read_program(path, path_rules_beside(session, path));
    into.insert(into.end(), program.warnings.begin(), program.warnings.end());
    Diagnostics diagnostics;
    for (const ModulePtr& module : program.modules()) {
      if (module->check_well_formed) verify(*module, diagnostics);
    }
    diagnostics.sort();
    into.insert(into.end(), diagnostics.all().begin(), diagnostics.all().end());
    return diagnostics.has_errors() ? exit_code_of(diagnostics.first_error_class()) : 0;
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Interrupted) throw;
    into.insert(into.end(), failure.diagnostics().begin(), failure.diagnostics().end());
    return failure.exit_code();
  }
}

ScriptValue run(Invocation& invocation) {
  if (invocation.surface == Surface::Script) {
    const auto* module = invocation.value.as<ModulePtr>();
    if (!module) {
      fail(ErrorClass::Type, invocation.span, "command.subject",
           fmt::format("check: found {}; expected a module", describe(invocation.value)));
    }
    Diagnostics diagnostics;
    verify(**module, diagnostics);
    throw_if_errors(diagnostics);
    return {};
  }
  std::vector<Diagnostic> all;
  for (const std::string& path : invocation.files) {
    int code = check_file(invocation.session, path, all);
    invocation.exit_code = std::max(invocation.exit_code, code);
  }
  if (invocation.flag("json")) {
    invocation.session.output().write(render_json(all, Sources::instance()));
  } else {
    invocation.session.report(all);
  }
  return {};
}

}  // namespace

extern const Command command_check;
const Command command_check{
    .name = "check",
    .summary = "reads files and reports all that is wrong with them",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc = "Parses, resolves names, infers types and verifies; the exit code is that of the worst file.",
};

}  // namespace relish::commands_check
