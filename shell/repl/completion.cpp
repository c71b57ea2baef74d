// Completion candidates.
#include "shell/repl/completion.h"

#include <algorithm>

#include "shell/repl/line_editor.h"
#include "shell/script/builtins.h"
#include "shell/script/script.h"

namespace relish {
namespace {

constexpr std::string_view keywords[] = {
    "and", "assert", "break", "class", "continue", "def", "elif", "else",   "False", "for",   "from",
    "if",  "import", "in",    "None",  "not",      "or",  "pass", "return", "True",  "while", "with"};

constexpr std::string_view session_commands[] = {"quit", "help", "save", "load", "type"};

void add_matching(std::string_view word, std::string candidate, std::vector<std::string>& into) {
  if (candidate.starts_with(word)) into.push_back(std::move(candidate));
}

// ":grad", or an option of ":gradient M.main --w".
std::vector<std::string> complete_command(std::string_view text, std::string_view word) {
  std::vector<std::string> result;
  std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) {
    for (const Command* command : all_commands()) {
      if (command->surfaces & in_scripts) add_matching(word, ":" + shell_name(command->name), result);
    }
    for (std::string_view name : session_commands) add_matching(word, ":" + std::string(name), result);
    return result;
  }
  const Command* command = find_command(text.substr(1, blank - 1));
  if (!command || !word.starts_with("-")) return result;
  for (const Option& option : command->options) {
    if (option.surfaces & in_scripts) add_matching(word, "--" + shell_name(option.name), result);
  }
  if (command->transforms) add_matching(word, "--as", result);
  return result;
}

void add_members(const Script& script, std::string_view word, std::vector<std::string>& into) {
  std::size_t dot = word.rfind('.');
  std::string object(word.substr(0, dot));
  std::string root = object.substr(0, object.find('.'));
  const ScriptValue* value = script.environment().find(object);
  if (value && value->as<ModulePtr>()) {
    for (const std::string& name : (*value->as<ModulePtr>())->names())
      add_matching(word, object + "." + name, into);
  } else if (value && value->tensor()) {
    for (std::string_view name : {"shape", "dtype", "ndim", "astype"})
      add_matching(word, object + "." + std::string(name), into);
  } else if (root == "R" && !script.environment().find("R")) {
    for (const std::string& name : op_names()) add_matching(word, "R." + name, into);
  } else if (root == "relish") {
    for (const Command* command : all_commands()) {
      if (command->surfaces & in_scripts) add_matching(word, "relish." + std::string(command->name), into);
    }
  }
}

}  // namespace

std::vector<std::string> complete(const Script& script, std::string_view text) {
  std::string_view word = last_word(text);
  std::vector<std::string> result;
  if (text.starts_with(':')) result = complete_command(text, word);
  if (result.empty() && word.find('.') != std::string_view::npos) {
    add_members(script, word, result);
  } else if (result.empty() && !word.empty()) {
    for (const std::string& name : script.environment().names()) add_matching(word, name, result);
    for (const Builtin& builtin : all_builtins()) add_matching(word, std::string(builtin.name), result);
    for (const Command* command : all_commands()) {
      if (command->surfaces & in_scripts) add_matching(word, std::string(command->name), result);
    }
    for (std::string_view keyword : keywords) add_matching(word, std::string(keyword), result);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace relish
