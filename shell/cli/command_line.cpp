// Dispatch on the first argument, so that a start costs only what the one command needs.
#include "shell/cli/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "shell/cli/options.h"
#include "shell/command.h"
#include "shell/program/in_place.h"
#include "shell/program/program_file.h"
#include "shell/program/text_file.h"
#include "shell/program/user_files.h"
#include "shell/repl/repl.h"
#include "shell/script/constant_values.h"
#include "shell/script/script_exit.h"
#include "shell/version.h"
#include "support/big_stack.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish {
namespace {

bool color_wanted() {
  const char* kind = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && kind && std::string_view(kind) != "dumb" && !(no_color && *no_color);
}

const Command& command_named(const std::string& name) {
  if (const Command* command = find_command(name); command && (command->surfaces & in_shell)) return *command;
  std::vector<std::string> names;
  for (const Command* command : all_commands()) {
    if (!(command->surfaces & in_shell)) continue;
    names.push_back(shell_name(command->name));
    for (std::string_view alias : command->aliases) names.push_back(shell_name(alias));
  }
  std::string hint = did_you_mean(name, names);
  if (hint.empty() && access(name.c_str(), R_OK) == 0)
    hint = "; to run a script write relish run " + printable(name);
  fail_usage("command.unknown", fmt::format("unknown command '{}'{}", printable(name), hint));
}

void show(Session& session, const ScriptValue& value) {
  if (value.is_none()) return;
  session.print(shown_text(value));
}

// The text of a transform's result for standard output or another file: the whole file when it has only
// declarations, else the modules that were changed.
std::string text_of_result(const ProgramFile& program, const std::vector<ModuleChange>& changes,
                           const PrintOptions& printing) {
  std::vector<ModulePtr> modules = program.has_statements ? std::vector<ModulePtr>() : program.modules();
  ModulePtr free_functions = program.free_functions;
  for (const ModuleChange& change : changes) {
    if (change.before == program.free_functions) free_functions = change.after;
    if (program.has_statements) modules.push_back(change.after);
    std::replace(modules.begin(), modules.end(), change.before, change.after);
  }
  return text_of_modules(modules, free_functions, printing);
}

// Runs a transform on the subject of a file and writes the text.
void run_transform(Invocation& invocation, const ProgramFile& program) {
  std::vector<ModulePtr> subjects =
      invocation.module ? std::vector<ModulePtr>{invocation.module} : program.modules();
  InPlaceRequest request;
  request.printing = print_options(invocation.text("dialect"));
  request.subject = invocation.function;
  if (request.subject.empty() && invocation.command.subject == Subject::Function && subjects.size() == 1)
    request.subject = default_function_or_none(*subjects.front());
  for (const ModulePtr& subject : subjects) {
    invocation.module = subject;
    ScriptValue result = invocation.command.run(invocation);
    const auto* module = result.as<ModulePtr>();
    if (!module) return;
    request.changes.push_back({subject, *module});
  }
  if (!invocation.given("output")) {
    invocation.session.output().write(text_of_result(program, request.changes, request.printing));
    return;
  }
  const std::string output = invocation.text("output");
  if (writes_in_place(program.path, output)) {
    write_in_place({program.path, program.source, program.byte_order_mark}, output,
                   text_in_place(program, request));
  } else {
    write_program_text(output, text_of_result(program, request.changes, request.printing));
  }
}

// Reads the subject's file and runs the command on it.
void run_on_file(Invocation& invocation, const ParsedCommand& parsed) {
  const Command& command = invocation.command;
  std::string function = parsed.function;
  bool batch = command.subject == Subject::Call && invocation.given("batch");
  if (batch) {
    if (!parsed.positionals.empty() || !function.empty())
      fail_usage("command.subject",
                 fmt::format("{} and --batch contradict each other; each line of it names its own",
                             parsed.positionals.empty() ? "-f" : "a file"));
    show(invocation.session, command.run(invocation));
    return;
  }
  std::size_t most = command.subject == Subject::Call ? 2 : 1;
  if (parsed.positionals.empty())
    fail_usage("command.subject", fmt::format("{}: FILE is missing", shell_name(command.name)));
  if (parsed.positionals.size() > most) {
    const std::string found = printable(parsed.positionals[most]);
    const bool takes_function =
        command.subject == Subject::Function || command.subject == Subject::Expression;
    fail_usage("command.subject",
               fmt::format("{}: found '{}' behind the file{}", shell_name(command.name), found,
                           takes_function ? fmt::format("; a function is named by -f {}", found) : ""));
  }
  if (parsed.positionals.size() == 2) {
    if (!function.empty()) fail_usage("command.subject", "a function and -f contradict each other");
    function = parsed.positionals[1];
  }
  PathRules rules = path_rules_beside(invocation.session, parsed.positionals[0]);
  // A --set of the command's own names parameters, and arguments of the file beside them.
  rules.more_arguments = has_own_set(command);
  if (rules.more_arguments)
    for (const auto& [name, value] : invocation.assignments("set"))
      rules.arguments.emplace_back(name, text_of(value));
  ProgramFile program = read_program(parsed.positionals[0], rules);
  invocation.session.report(program.warnings);
  invocation.program = &program;
  std::vector<ModulePtr> modules = program.modules();
  if (modules.empty()) fail_usage("program.empty", fmt::format("{} declares no functions", program.path));
  bool all_modules = command.subject == Subject::Module;
  bool whole_module = function.empty() && modules.size() == 1 &&
                      (command.transforms || command.subject == Subject::Expression);
  if (whole_module) {
    invocation.module = modules.front();
  } else if (!all_modules) {
    FunctionReference reference = find_function(program, function);
    invocation.module = reference.module;
    invocation.function = reference.name;
  }
  if (command.transforms) {
    run_transform(invocation, program);
  } else {
    show(invocation.session, command.run(invocation));
  }
}

int run_command(const Command& command, const std::vector<std::string>& arguments, Session& session) {
  ParsedCommand parsed = parse_command_line(command, arguments, session.settings());
  if (parsed.wants_help) {
    session.print(command_help(command));
    if (command.name == "run" && !parsed.positionals.empty()) {
      start_language();
      Diagnostics ignored;
      const SourceText text = read_text(parsed.positionals[0]);
      ReadOptions options;
      options.redefinitions = true;
      const ReadResult read = read_source(text.source, options, ignored);
      session.print(fmt::format("\n{}: {}", printable(text.path), arguments_help(read.script)));
    }
    return 0;
  }
  Invocation invocation(session, command, Surface::Shell, {});
  for (auto& [name, value] : parsed.options) invocation.set(name, std::move(value));
  switch (command.subject) {
    case Subject::None:
    case Subject::Files:
    case Subject::Name:
      if (command.subject == Subject::None && !parsed.positionals.empty()) {
        fail_usage("command.subject", fmt::format("{} takes no file, found '{}'", shell_name(command.name),
                                                  printable(parsed.positionals[0])));
      }
      if (command.subject == Subject::Name && parsed.positionals.size() > 1) {
        fail_usage("command.subject", fmt::format("{} takes one name, found {}", shell_name(command.name),
                                                  parsed.positionals.size()));
      }
      if (parsed.positionals.empty() && command.subject != Subject::None && !command.subject_optional) {
        fail_usage("command.subject", fmt::format("{}: {} is missing", shell_name(command.name),
                                                  command.subject == Subject::Name ? "NAME" : "FILE"));
      }
      invocation.files = parsed.positionals;
      // Reading a terminal or pipe stays on this thread, where signals interrupt it; the commands themselves
      // choose the large stack.
      show(session, command.run(invocation));
      break;
    default:
      for (const std::string& path : parsed.positionals) {
        if (path == "-") read_standard_input();
      }
      with_big_stack([&] { run_on_file(invocation, parsed); });
  }
  return invocation.exit_code;
}

int dispatch(const std::vector<std::string>& arguments, Session& session) {
  std::size_t at = leading_options(arguments);
  std::vector<std::string> rest(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(at));
  if (at == arguments.size()) {
    return run_command(*find_command("repl"), rest, session);
  }
  const std::string& first = arguments[at];
  if (first == "--version" || first == "-V") {
    session.print(version_text());
    return 0;
  }
  if (first == "--help" || first == "-h") {
    session.print(command_list_help());
    return 0;
  }
  std::size_t behind = at + 1;
  const Command* command = nullptr;
  if (first == "-e") {
    command = find_command("run");
    behind = at;
  } else {
    command = &command_named(first);
  }
  rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(behind), arguments.end());
  return run_command(*command, rest, session);
}

int report_failure(Session& session, const Failure& failure) {
  std::vector<Diagnostic> diagnostics = failure.diagnostics();
  // On its way here it was an interrupt like any other.
  if (failure.exit_code() == exit_code_of(ErrorClass::TimeLimit))
    diagnostics.front().error_class = ErrorClass::TimeLimit;
  bool closed = !diagnostics.empty() && diagnostics.front().id == closed_output_id;
  if (!closed) {
    try {
      session.output().flush();
    } catch (const Failure&) {
      // The first failure is the one to tell.
    }
    session.report(diagnostics);
    end_was_told();
    if (failure.error_class() == ErrorClass::Internal) {
      write_error_text(fmt::format("{}, seed {}\n", version_text(), session.settings().seed));
    }
  }
  return failure.exit_code();
}

// What was printed may still fail to be written.
int finished(Session& session, int code) {
  try {
    session.output().flush();
    return code;
  } catch (const Failure& failure) {
    return report_failure(session, failure);
  }
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  install_signal_handlers();
  signals_end_process(true);
  Settings settings;
  settings.color = color_wanted();
  settings.cache_folder = user_file("XDG_CACHE_HOME", ".cache", "objects");
  Session session(std::move(settings));
  try {
    int code = dispatch(arguments, session);
    session.output().flush();
    return code;
  } catch (const ScriptExit& exit) {
    return finished(session, exit.code);
  } catch (const Failure& failure) {
    return report_failure(session, failure);
  } catch (const std::bad_alloc&) {
    Diagnostic diagnostic;
    diagnostic.error_class = ErrorClass::ResourceLimit;
    diagnostic.id = "limit.memory";
    diagnostic.message = memory_used_up;
    return report_failure(session, Failure(diagnostic));
  } catch (const std::exception& error) {
    Diagnostic diagnostic;
    diagnostic.error_class = ErrorClass::Internal;
    diagnostic.message = fmt::format("unexpected: {}", error.what());
    diagnostic.note(
        "this is a defect of Relish, not of the program; please report it with this message and the input");
    return report_failure(session, Failure(diagnostic));
  }
}

}  // namespace relish
