// The command `fmt`.
#include "frontend/reader.h"
#include "shell/commands/subject.h"
#include "shell/commands/text/canonical_text.h"
#include "shell/program/reading.h"
#include "shell/program/text_file.h"

namespace relish::commands_fmt {
namespace {

constexpr Option options[] = {
    {"dialect", OptionKind::Text, "0.26", "dialect of the text: 0.26, 2023 or 2022"},
    {"check", OptionKind::Flag, "", "write nothing; exit 1 when the text would change", 0, in_shell},
    {"output", OptionKind::OutputFile, "standard output", "file to write; it may be the file itself", 'o',
     in_shell},
};

constexpr Example examples[] = {{"relish fmt m.relish --dialect 2022", "text = fmt(M)"}};

// The exit code of the text's errors.
int format_file(Invocation& invocation, const std::string& path, const PrintOptions& print_options) {
  Session& session = invocation.session;
  const SourceText source = read_text(path);
  const std::string output = invocation.text("output");
  // What else a Python file holds stands in its file, not on standard output.
  const bool in_place = is_python_file(path) &&
                        (invocation.flag("check") || (!output.empty() && writes_in_place(path, output)));
  Diagnostics diagnostics;
  const PathRules rules = path_rules_beside(session, path);
  auto text = in_place ? canonical_text_in_place(source, print_options, rules, diagnostics)
                       : canonical_text(source.source, print_options, rules, diagnostics);
  session.report(diagnostics.all());
  int code = diagnostics.has_errors() ? exit_code_of(diagnostics.first_error_class()) : 0;
  if (!text) return code;
  if (invocation.flag("check")) {
    const std::string mark = in_place && source.byte_order_mark ? "\xEF\xBB\xBF" : "";
    if (*text == mark + Sources::instance().find(source.source)->text()) return code;
    session.print(fmt::format("{} would change", path));
    return code != 0 ? code : 1;
  }
  if (invocation.given("output")) {
    write_in_place(source, output, *text);
  } else {
    session.output().write(*text);
  }
  return code;
}

ScriptValue run(Invocation& invocation) {
  PrintOptions printing = print_options(invocation.text("dialect"));
  if (invocation.surface == Surface::Script) {
    if (const auto* module = invocation.value.as<ModulePtr>()) return print(**module, printing);
    fail(ErrorClass::Type, invocation.span, "command.subject",
         fmt::format("fmt: found {}; expected a module", describe(invocation.value)));
  }
  if (invocation.files.size() > 1 && invocation.given("output")) {
    fail(ErrorClass::Usage, {}, "fmt.output", "several files and --output contradict each other");
  }
  for (const std::string& path : invocation.files) {
    int code = format_file(invocation, path, printing);
    if (invocation.exit_code == 0) invocation.exit_code = code;
  }
  return {};
}

}  // namespace

extern const Command command_fmt;
const Command command_fmt{
    .name = "fmt",
    .summary = "prints the canonical text of a file",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Keeps names, comments, the order of functions and of statements. A text with type errors alone is "
        "printed too; "
        "the errors are reported and the exit code is theirs. Of a Python file standard output gets the "
        "declarations; written to a .py file, its functions are formatted in their place and all else is "
        "kept. A function that sees constants of the script stays as it is written, since its canonical text "
        "would say their values.",
};

}  // namespace relish::commands_fmt
