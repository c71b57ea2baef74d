// Completion candidates.
#include "shell/repl/completion.h"

#include <algorithm>

#include "shell/repl/line_editor.h"
#include "shell/script/builtins.h"
#include "shell/script/script.h"
#include "stdlib/catalog_doc.h"
#include "support/value_text.h"

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
      if (is_session_command(*command)) add_matching(word, ":" + shell_name(command->name), result);
    }
    for (std::string_view name : session_commands) add_matching(word, ":" + std::string(name), result);
    return result;
  }
  const Command* command = find_command(text.substr(1, blank - 1));
  if (!command || !word.starts_with("-")) return result;
  for (const Option& option : command->options) {
    if (option.surfaces & (in_scripts | in_session))
      add_matching(word, "--" + shell_name(option.name), result);
  }
  if (command->transforms) add_matching(word, "--as", result);
  return result;
}

// The word before the end of `text`, behind which only `between` stands.
std::string_view name_before(std::string_view text, std::string_view between) {
  const std::size_t end = text.find_last_not_of(between) + 1;
  std::size_t begin = end;
  // Behind a letter, so that a digit may be the first that is seen.
  while (begin > 0 && is_plain_name("_" + std::string(1, text[begin - 1]))) --begin;
  return text.substr(begin, end - begin);
}

// The name whose bracket is open at the end of `text`; empty when none is.
std::string_view open_call(std::string_view text) {
  std::size_t closed = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++closed;
    if (text[i] != '(') continue;
    if (closed == 0) return name_before(text.substr(0, i), " ");
    --closed;
  }
  return {};
}

// What may stand as NAME(option=value) behind --loss, optimizer= and the like: names, and within brackets
// options.
std::vector<std::string> complete_spec(const Script& script, std::string_view text, std::string_view word) {
  std::vector<std::string> result;
  const std::string_view before = text.substr(0, text.size() - word.size());
  const std::string_view callee = open_call(before);
  const bool begins_argument = without_blanks(before).ends_with('(') || without_blanks(before).ends_with(',');
  if (begins_argument && !callee.empty() && !script.environment().find(std::string(callee))) {
    for (const std::string& option : catalog_option_names(callee)) add_matching(word, option + "=", result);
    if (!result.empty()) return result;
  }
  struct Place {
    std::string_view option, kind;
  };
  constexpr Place places[] = {
      {"loss", "loss"}, {"optimizer", "optimizer"}, {"schedule", "schedule"}, {"init", "initialiser"}};
  const std::string_view option = name_before(before, "= \"'");
  for (const Place& place : places) {
    if (place.option != option) continue;
    for (const std::string& name : catalog_names(place.kind)) add_matching(word, name, result);
  }
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
  if (result.empty() && !word.empty()) result = complete_spec(script, text, word);
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
