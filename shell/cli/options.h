// Options of one subcommand, built from its declaration when it is the one that runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"

namespace relish {

// The arguments of a subcommand as parsed: positionals, the common options in `settings`, its own as values.
struct ParsedCommand {
  bool wants_help = false;
  std::vector<std::string> positionals;
  std::string function;  // of -f
  std::vector<std::pair<std::string, ScriptValue>> options;
};

// Whether the command has a --set of its own, which in others gives values of arg() in the file.
bool has_own_set(const Command& command);

// How many words before the command's name are common options with their values, as in `relish --tier interp
// run x`. UsageError with the nearest name for an option that is none of them.
std::size_t leading_options(const std::vector<std::string>& arguments);

// Throws a UsageError.
[[noreturn]] void fail_usage(std::string_view id, std::string message);

// `arguments` are those behind the command's name. Fills the settings and the process's limits. UsageError
// with the nearest name for an unknown flag.
ParsedCommand parse_command_line(const Command& command, const std::vector<std::string>& arguments,
                                 Settings& settings);

}  // namespace relish
