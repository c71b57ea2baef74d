// Commands by theme; one that no theme names stands under the last.
#include "shell/repl/inputs/session_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "shell/command.h"
#include "shell/program/terminal_width.h"

namespace relish {
namespace {

struct Theme {
  std::string_view title;
  std::vector<std::string_view> commands;
};

const std::array<Theme, 8>& themes() {
  static const std::array<Theme, 8> all = {{
      {"States", {"undo", "redo", "goto", "branch", "branches", "snapshot", "history", "set", "tier"}},
      {"Seeing", {"vars", "info", "type", "shape", "stats", "hist", "heat", "plot", "uses", "where", "diff"}},
      {"Transforms",
       {"gradient", "vjp", "jvp", "hvp", "jacobian", "bind_params", "bind_symbols", "append_loss",
        "decompose", "optimizer", "setup_trainer", "passes", "redo_derived"}},
      {"Plainer modules",
       {"inline", "unroll", "canonicalize", "fold", "simplify", "cse", "dce", "to_dataflow", "normalize",
        "lambda_lift", "expand_tuples", "dead_parameters", "lift_params", "topological_sort"}},
      {"The compiled tier",
       {"legalize", "fuse", "schedule", "lower", "machine", "llvm", "asm", "profile", "memory", "time",
        "cache"}},
      {"Running",
       {"call", "run", "train", "evaluate", "predict", "check_gradients", "compare_tiers", "runs"}},
      {"Files", {"load", "restore", "reload", "fmt", "check"}},
      {"Finding, mending", {"doc", "ops", "fix", "edit"}},
  }};
  return all;
}

std::string line_of(std::string_view name, std::string_view summary) {
  return fmt::format("  {:<18} {}\n", name, summary);
}

}  // namespace

std::string session_help() {
  std::string text =
      "Statements are run as they are typed; an empty line ends a block, two end a class.\n"
      "Tab completes, Ctrl-R searches earlier inputs, Ctrl-C drops the input or stops the running statement,\n"
      "Ctrl-D leaves.\n";
  std::vector<const Command*> rest;
  for (const Command* command : all_commands())
    if (is_session_command(*command) && command->name != "help" && command->name != "save")
      rest.push_back(command);
  for (const Theme& theme : themes()) {
    text += fmt::format("\n{}\n", theme.title);
    for (const std::string_view name : theme.commands) {
      const auto found =
          std::find_if(rest.begin(), rest.end(), [&](const Command* each) { return each->name == name; });
      if (found == rest.end()) continue;
      text += line_of(":" + shell_name(name), (*found)->summary);
      rest.erase(found);
    }
  }
  text += "\nMore\n";
  text += line_of(":help [NAME]", "this, or the page of a name, as ? NAME and NAME? give it");
  text +=
      line_of(":save FILE",
              "writes the session's statements, or all states into FILE.rxs; with --overwrite over any file");
  for (const Command* command : rest) text += line_of(":" + shell_name(command->name), command->summary);
  text += line_of(":quit", "leaves");
  text.pop_back();
  return wrapped(text, terminal_columns(0));
}

}  // namespace relish
