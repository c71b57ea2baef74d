// Pages of commands and the list of all, made from the declarations.
#include "shell/command.h"
#include "shell/version.h"
#include "stdlib/catalog_doc.h"
#include "support/limits.h"

namespace relish {
namespace {

std::string_view value_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::Flag:
      return "";
    case OptionKind::Integer:
      return "N";
    case OptionKind::Real:
      return "NUMBER";
    case OptionKind::Text:
      return "TEXT";
    case OptionKind::Names:
      return "NAMES";
    case OptionKind::Path:
      return "PATH";
    case OptionKind::Spec:
      return "SPEC";
    case OptionKind::Tensors:
      return "FILE";
    case OptionKind::Assignments:
      return "NAME=VALUE";
    case OptionKind::InputFile:
    case OptionKind::OutputFile:
      return "FILE";
    case OptionKind::OutputFolder:
      return "FOLDER";
    case OptionKind::Value:
      return "FILES";
  }
  return "";
}

std::string_view shell_subject(const Command& command) {
  switch (command.subject) {
    case Subject::None:
      return "";
    case Subject::Module:
      return " FILE";
    case Subject::Function:
      return " FILE [-f FUNCTION]";
    case Subject::Call:
      return " FILE [FUNCTION]";
    case Subject::Files:
      return command.subject_optional ? " [FILE…]" : " FILE…";
    case Subject::Name:
      return command.subject_optional ? " [NAME]" : " NAME";
    case Subject::Expression:
      return " FILE [-f FUNCTION]";
  }
  return "";
}

std::string_view script_subject(const Command& command) {
  switch (command.subject) {
    case Subject::None:
      return "";
    case Subject::Module:
      return "M";
    case Subject::Function:
    case Subject::Call:
      return "M.f";
    case Subject::Files:
      if (command.name == "runs" || command.name == "plot") return "path, …";
      return command.name == "load" || command.name == "run" ? "path" : "value";
    case Subject::Name:
      return "name";
    case Subject::Expression:
      return "value";
  }
  return "";
}

std::string shell_synopsis(const Command& command) {
  return fmt::format("relish {}{}{}", shell_name(command.name), shell_subject(command),
                     command.options.empty() ? "" : " [options]");
}

std::string script_synopsis(const Command& command) {
  std::string text = fmt::format("{}({}", command.name, script_subject(command));
  bool first = command.subject == Subject::None;
  if (command.name == "save") text += ", path";
  if (command.subject == Subject::Call) text += ", x, …";
  for (const Option& option : command.options) {
    if (!(option.surfaces & in_scripts)) continue;
    text += fmt::format("{}{}=…", first ? "" : ", ", option.name);
    first = false;
  }
  return text + ")";
}

std::string repl_synopsis(const Command& command) {
  if (!command.arguments.empty()) return fmt::format(":{} {}", shell_name(command.name), command.arguments);
  return fmt::format(":{}{}{}{}", shell_name(command.name), command.subject == Subject::None ? "" : " ",
                     script_subject(command), command.subject == Subject::Call ? " x …" : "");
}

std::string option_flags(const Option& option) {
  std::string text = option.letter ? fmt::format("-{}, ", option.letter) : "";
  text += "--" + shell_name(option.name);
  if (option.kind != OptionKind::Flag) text += fmt::format(" {}", value_name(option.kind));
  return text;
}

std::string option_doc(const Option& option) {
  std::string text(option.doc);
  if (option.required) text += " (required)";
  if (!option.fallback.empty()) text += fmt::format(" (default: {})", option.fallback);
  if (option.surfaces == in_shell) text += " (shell only)";
  if (option.surfaces == in_scripts) text += " (scripts only)";
  return text;
}

struct GlobalOption {
  std::string flags, doc;
};

std::vector<GlobalOption> global_options() {
  std::vector<GlobalOption> options = {
      {"--tier interp|jit", "engine that runs functions (default: jit)"},
      {"--threads N", "threads of compiled code (default: affinity and quota of the process)"},
      {"--seed N", "seed of what is random and has no seed of its own (default: 0)"},
      {"--root DIR", "folder whose files a script may name by any path; may be repeated"},
      {"--native LIB", "library whose functions may be called, or NAME=LIB:SYMBOL; may be repeated"},
      {"--cache DIR|off", "folder of compiled code, or none (default: relish/objects in XDG_CACHE_HOME)"},
      {"--debug", "details of internal errors"},
      {"--help", "this page"},
  };
  std::vector<GlobalOption> limits;
  for (const LimitFlag& flag : limit_flags())
    limits.push_back({fmt::format("{} {}", flag.flag, flag.argument), std::string(flag.doc)});
  options.insert(options.begin() + 3, limits.begin(), limits.end());
  return options;
}

}  // namespace

std::string command_help(const Command& command, bool markdown) {
  std::string text;
  std::string aliases;
  for (std::string_view alias : command.aliases)
    aliases += fmt::format("{}{}", aliases.empty() ? "" : ", ", shell_name(alias));
  if (markdown) {
    text = fmt::format("## {}\n\n{}{}.\n\n", shell_name(command.name),
                       std::string(1, static_cast<char>(std::toupper(command.summary[0]))),
                       command.summary.substr(1));
  } else {
    text = fmt::format("{}: {}\n\n", shell_name(command.name), command.summary);
  }
  auto form = [&](std::string_view surface, const std::string& synopsis) {
    text += markdown ? fmt::format("- {}: `{}`\n", surface, synopsis)
                     : fmt::format("  {:<7} {}\n", surface, synopsis);
  };
  if (command.surfaces & in_shell) form("shell", shell_synopsis(command));
  if (command.surfaces & in_scripts) {
    form("script", script_synopsis(command));
  }
  if (is_session_command(command)) form("REPL", repl_synopsis(command));
  if (!aliases.empty()) form("alias", aliases);
  if (!command.doc.empty()) text += fmt::format("\n{}\n", command.doc);
  if (!command.options.empty()) {
    text += markdown ? "\n| option | meaning |\n|---|---|\n" : "\nOptions:\n";
    std::size_t width = 0;
    for (const Option& option : command.options) width = std::max(width, option_flags(option).size());
    for (const Option& option : command.options) {
      text += markdown ? fmt::format("| `{}` | {} |\n", option_flags(option), option_doc(option))
                       : fmt::format("  {:<{}}  {}\n", option_flags(option), width, option_doc(option));
    }
  }
  if (!command.examples.empty()) {
    text += markdown ? "\n```\n" : "\nExamples:\n";
    for (const Example& example : command.examples) {
      if (!example.shell.empty()) text += fmt::format("{}{}\n", markdown ? "" : "  ", example.shell);
      if (!example.script.empty()) text += fmt::format("{}{}\n", markdown ? "" : "  ", example.script);
    }
    if (markdown) text += "```\n";
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string command_list_help() {
  std::string text = version_text() + ", the Relax IR shell\n\n";
  text += "  relish                     the interactive session\n";
  text += "  relish COMMAND [options]   one command; relish COMMAND --help tells more\n";
  text += "  relish -e TEXT             runs a line\n\nCommands:\n";
  for (const Command* command : all_commands()) {
    if (command->surfaces & in_shell)
      text += fmt::format("  {:<14} {}\n", shell_name(command->name), command->summary);
  }
  text += "\nOptions of all commands:\n";
  for (const GlobalOption& option : global_options())
    text += fmt::format("  {:<27} {}\n", option.flags, option.doc);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string commands_manual() {
  std::string text =
      "# Commands\n\nGenerated by `relish help --markdown` from the declarations under `shell/commands/`. A "
      "command is a "
      "function in scripts, `:name` in the REPL and a subcommand of `relish`; `_` in scripts is `-` "
      "elsewhere.\n\n"
      "Options of all commands:\n\n| option | meaning |\n|---|---|\n";
  for (const GlobalOption& option : global_options())
    text += fmt::format("| `{}` | {} |\n", option.flags, option.doc);
  for (const Command* command : all_commands()) text += "\n" + command_help(*command, true) + "\n";
  text += catalog_markdown();
  return text.substr(0, text.size() - 1);
}

}  // namespace relish
