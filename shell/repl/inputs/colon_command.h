// `:NAME subject --option value` as the script statement that it stands for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relish {

class Script;
struct Command;
struct Option;

// The words behind `:NAME`, of which those of options are apart.
struct CommandWords {
  std::vector<std::string> subjects;
  std::vector<std::pair<const Option*, std::vector<std::string>>> options;
  std::string target;  // of --as
};
// `name`: as it was written. UsageError for an unknown option, with the nearest name.
CommandWords command_words(const Command& command, std::string_view name, std::string_view words);

// The command that a session has by that name. UsageError with the nearest name.
const Command& session_command(std::string_view name);

// The statement: `M = gradient(M.main, wrt=["w0"])` for `:gradient M.main --wrt w0`. UsageError for an
// unknown command or option, with the nearest name.
std::string statement_of(const Script& script, std::string_view line);

}  // namespace relish
