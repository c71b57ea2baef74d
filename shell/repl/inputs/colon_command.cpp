// Translation of REPL commands into script statements.
#include "shell/repl/inputs/colon_command.h"

#include <algorithm>
#include <filesystem>

#include "shell/program/literal_text.h"
#include "shell/script/builtins.h"
#include "shell/script/script.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish {
namespace {

std::string in_quotes(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

std::string list_of(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

// What the word begins with is bound, here or in the state that it names: M.main, L@before.main.
bool is_bound(const Script& script, const std::string& word) {
  const std::size_t end = std::min(word.find_first_of(".[@"), word.size());
  if (script.environment().find(word.substr(0, end))) return true;
  const ScriptObserver* observer = script.options().observer;
  if (!observer || end == word.size() || word[end] != '@' || !is_plain_name(word.substr(0, end)))
    return false;
  const std::string state = word.substr(end + 1, word.find_first_of(".[@", end + 1) - end - 1);
  const bool number = !state.empty() && state.find_first_not_of("0123456789") == std::string::npos;
  return number || observer->knows_state(state);
}

// Whether the text is a value by itself, as on the command line: a literal, zeros, rand(seed=1), @FILE.
bool is_written_value(const std::string& text) {
  try {
    if (parse_argument_text(text, "").kind == ArgumentText::Literal) parse_literal(text, "");
    return true;
  } catch (const Failure&) {
    return false;
  }
}

// rand(seed=1) and what is meant so: a word of the shell, where a call of a script names a shape.
bool makes_value(const std::string& text) {
  const std::string name = text.substr(0, text.find('('));
  if (name != "rand" && name != "zeros" && name != "ones") return false;
  const std::string_view inside = std::string_view(text).substr(name.size() + 1);
  const std::size_t end = inside.find_first_of("=)(,[");
  return end != std::string_view::npos && (inside[end] == '=' || end == 0) && !inside.starts_with('(') &&
         !inside.starts_with('[');
}

// NAME=VALUE of values by themselves as texts; with an expression of the session among them as a dict.
std::string assignments_text(const Script& script, const std::vector<std::string>& given) {
  std::vector<std::string> texts, entries;
  bool expressions = false;
  for (const std::string& written : given) {
    const std::string text = without_quotes(written);
    const std::size_t mark = text.find('=');
    const std::string value = mark == std::string::npos ? "" : text.substr(mark + 1);
    const std::size_t root = std::min(value.find_first_of(" .[(+-*/@"), value.size());
    const std::string first = value.substr(0, root);
    const bool calls =
        root < value.size() && value[root] == '(' && find_builtin(first) && !makes_value(value);
    const bool expression = !is_written_value(value) && (calls || is_bound(script, first) || first == "R");
    expressions |= expression;
    texts.push_back(in_quotes(text));
    entries.push_back(fmt::format("{}: {}", in_quotes(text.substr(0, std::min(mark, text.size()))),
                                  expression ? value : in_quotes(value)));
  }
  return expressions ? fmt::format("{{{}}}", fmt::join(entries, ", ")) : list_of(texts);
}

// An argument of a function that stands behind its name: what means a value in the shell alone, as zeros or
// @x.npy, is a text that the call reads as there; all else is an expression of the session.
std::string argument_text(const Script& script, const std::string& written) {
  const std::size_t mark = written.find('=');
  const bool named = mark != std::string::npos && is_plain_name(written.substr(0, mark)) &&
                     (mark + 1 == written.size() || written[mark + 1] != '=');
  const std::string name = named ? written.substr(0, mark + 1) : "", value = written.substr(name.size());
  const bool word = value == "zeros" || value == "ones" || value == "rand" || value.starts_with('@') ||
                    (value.find('(') != std::string::npos && makes_value(value));
  return name + (word && !script.environment().find(value) ? in_quotes(value) : value);
}

// An index, or the indices between dots as a list.
std::string path_text(const std::string& written) {
  if (written.find('.') == std::string::npos) return written;
  std::string text = "[";
  for (const char c : written) text += c == '.' ? std::string(", ") : std::string(1, c);
  return text + "]";
}

// The option's value in the script's syntax.
std::string value_text(const Script& script, const Option& option, const std::vector<std::string>& given) {
  const std::string& last = given.back();
  switch (option.kind) {
    case OptionKind::Flag:
      return "True";
    case OptionKind::Integer:
    case OptionKind::Real:
      return last;
    case OptionKind::Value:
      // --data x,y: several values are a tuple.
      return split_at_commas(last).size() > 1 ? "(" + last + ")" : last;
    case OptionKind::Path:
      return path_text(last);
    case OptionKind::Names: {
      std::vector<std::string> names;
      for (const std::string& text : given) {
        std::string all = without_quotes(text);
        // As scripts write lists.
        if (all.starts_with('[') && all.ends_with(']')) all = all.substr(1, all.size() - 2);
        for (const std::string_view name : split_at_commas(all))
          names.push_back(in_quotes(without_quotes(without_blanks(name))));
      }
      return list_of(names);
    }
    case OptionKind::Assignments:
      return assignments_text(script, given);
    case OptionKind::Tensors:
      // A dict that is written out.
      if (last.starts_with('{')) return last;
      [[fallthrough]];
    case OptionKind::Spec:
      return is_bound(script, last) ? last : in_quotes(without_quotes(last));
    case OptionKind::Text:
    case OptionKind::InputFile:
    case OptionKind::OutputFile:
    case OptionKind::OutputFolder:
      return in_quotes(without_quotes(last));
  }
  return last;
}

std::string name_from_path(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name) {
    bool part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!part) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "_" + name;
  return name;
}

// The module that a transform of `subject` replaces.
std::string target_of(const Script& script, const std::string& subject) {
  // What comes of another state's module goes to its name.
  std::string root = subject.substr(0, subject.find_first_of(".@"));
  const ScriptValue* value = script.environment().find(root);
  const auto* function = value ? value->as<FunctionReference>() : nullptr;
  if (!function) return root;
  // Of a function that a name stands for, its module's name.
  for (const std::string& name : script.environment().names()) {
    const ScriptValue* held = script.environment().peek(name);
    const auto* module = held->is_unread() ? nullptr : held->as<ModulePtr>();
    if (module && *module == function->module) return name;
  }
  return "Module";
}

// A free function that stands as it is in the module that transforms made before is the one of that module:
// what was made of it there is kept.
std::string standing_subject(const Script& script, const std::string& subject) {
  const ScriptValue* value = script.environment().find(subject);
  const auto* function = value ? value->as<FunctionReference>() : nullptr;
  const ScriptValue* held = script.environment().find("Module");
  const auto* module = held ? held->as<ModulePtr>() : nullptr;
  if (!function || !module) return subject;
  const GlobalFunction* own = function->module->find(function->name);
  const GlobalFunction* there = (*module)->find(function->name);
  return own && there && *own == *there ? "Module." + function->name : subject;
}

// A proposal: what is written like it, else the one that it is the beginning of.
std::string nearest_command(const std::string& name, const std::vector<std::string>& names) {
  std::string proposal = did_you_mean(name, names);
  std::vector<std::string> begun;
  for (const std::string& each : names)
    if (name.size() > 1 && each.starts_with(name)) begun.push_back(each);
  if (proposal.empty() && begun.size() == 1) proposal = fmt::format("; did you mean '{}'?", begun.front());
  if (proposal.empty() && begun.size() > 1)
    proposal = fmt::format("; these begin so: {}", fmt::join(begun, ", "));
  return proposal;
}

}  // namespace

const Command& session_command(std::string_view name) {
  const Command* command = find_command(name);
  if (command && is_session_command(*command)) return *command;
  if (name.empty())
    fail(ErrorClass::Usage, {}, "command.unknown", "found ':' without a command behind it; :help lists them");
  std::vector<std::string> names = {"quit", "save", "help"};
  for (const Command* candidate : all_commands()) {
    if (is_session_command(*candidate)) names.push_back(shell_name(candidate->name));
  }
  fail(ErrorClass::Usage, {}, "command.unknown",
       fmt::format("unknown command ':{}'{}", printable(name), nearest_command(std::string(name), names)));
}

CommandWords command_words(const Command& command, std::string_view name, std::string_view text) {
  CommandWords result;
  const std::vector<std::string_view> parts = split_at_blanks(text);
  const std::vector<std::string> words(parts.begin(), parts.end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    bool flag = words[i].size() > 1 && words[i][0] == '-' && !(words[i][1] >= '0' && words[i][1] <= '9');
    if (!flag) {
      result.subjects.push_back(words[i]);
      continue;
    }
    std::size_t mark = words[i].find('=');
    std::string written = words[i].substr(0, mark);
    const bool assigns = command.transforms || command.name == "load";
    const bool is_as = written == "--as" && assigns;
    std::vector<std::string> known;
    if (assigns) known.emplace_back("--as");
    const Option* option = nullptr;
    for (const Option& candidate : command.options) {
      if (!(candidate.surfaces & (in_scripts | in_session))) continue;
      known.push_back("--" + shell_name(candidate.name));
      bool by_letter = candidate.letter && written == std::string("-") + candidate.letter;
      if (known.back() == written || by_letter) option = &candidate;
    }
    if (!option && !is_as) {
      fail(ErrorClass::Usage, {}, "option.unknown",
           fmt::format("{}: unknown option '{}'{}", name, printable(written), did_you_mean(written, known)));
    }
    std::string value;
    if (is_as || option->kind != OptionKind::Flag) {
      if (mark != std::string::npos) {
        value = words[i].substr(mark + 1);
      } else if (i + 1 < words.size()) {
        value = words[++i];
      } else {
        fail(ErrorClass::Usage, {}, "option.value", fmt::format("{}: {} has no value", name, written));
      }
    }
    if (is_as) {
      result.target = value;
      continue;
    }
    auto same = [&](const auto& entry) { return entry.first == option; };
    auto found = std::find_if(result.options.begin(), result.options.end(), same);
    if (found == result.options.end()) found = result.options.insert(result.options.end(), {option, {}});
    found->second.push_back(value);
  }
  return result;
}

std::string statement_of(const Script& script, std::string_view line) {
  line.remove_prefix(1);
  std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  const std::string name(line.substr(0, blank));
  std::string_view rest = line.substr(blank);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  const Command* command = &session_command(name);
  if (!(command->surfaces & in_scripts)) {
    fail(ErrorClass::Usage, {}, "command.unknown",
         fmt::format(":{} asks what only a session knows; it is no function of scripts", name));
  }
  if (command->subject == Subject::Expression) return fmt::format("{}({})", command->name, rest);
  auto [subjects, options, target] = command_words(*command, name, rest);

  if (command->name == "load" && subjects.size() > 1) {
    fail(ErrorClass::Usage, {}, "command.subject",
         fmt::format("load: found {} words; expected one file; a name with blanks stands in quotes",
                     subjects.size()));
  }
  bool quotes = command->subject == Subject::Name || command->name == "load" || command->name == "run" ||
                command->name == "runs";
  std::string text = fmt::format("{}(", command->name);
  bool first = true;
  if (command->transforms && !subjects.empty()) subjects.front() = standing_subject(script, subjects.front());
  for (const std::string& subject : subjects) {
    // What the session holds is asked for itself.
    const bool value = command->name == "help" && is_bound(script, subject);
    const bool argument = command->subject == Subject::Call && !first;
    text += (first ? "" : ", ") + (quotes && !value ? in_quotes(without_quotes(subject))
                                   : argument       ? argument_text(script, subject)
                                                    : subject);
    first = false;
  }
  for (const auto& [option, given] : options) {
    const bool collects = option->kind == OptionKind::Names || option->kind == OptionKind::Assignments;
    if (given.size() > 1 && !collects) {
      fail(ErrorClass::Usage, {}, "option.twice",
           fmt::format("{}: --{} is given twice", name, shell_name(option->name)));
    }
    text += fmt::format("{}{}={}", first ? "" : ", ", option->name, value_text(script, *option, given));
    first = false;
  }
  text += ")";
  if (target.empty() && !subjects.empty()) {
    if (command->transforms) target = target_of(script, subjects.front());
    // What was shown last has no name of its own.
    if (command->transforms && target.starts_with('_') && !script.environment().find(target)) {
      fail(ErrorClass::Usage, {}, "command.target",
           fmt::format(
               "found '{0}', a value that was shown: the result has no name to go to; expected one, as in "
               ":{1} {2} --as M",
               printable(target), name, printable(subjects.front())));
    }
    if (command->transforms && !is_plain_name(target)) target.clear();
    if (command->name == "load") target = name_from_path(without_quotes(subjects.front()));
  }
  return target.empty() ? text : fmt::format("{} = {}", target, text);
}

}  // namespace relish
