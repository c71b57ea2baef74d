// The bridge between command declarations and CLI11.
#include "shell/cli/options.h"
#include "shell/foreign_options.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <deque>
#include <set>
#include <thread>

#include "frontend/reader.h"
#include "runtime/native.h"
#include "shell/program/program_file.h"
#include "shell/script/constant_values.h"
#include "support/file_access.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish {

void fail_usage(std::string_view id, std::string message) {
  fail(ErrorClass::Usage, {}, id, std::move(message));
}

namespace {

// Common options as text, turned into settings after parsing.
struct CommonTexts {
  std::string tier, threads, seed;
  std::optional<std::string> cache;
  std::vector<std::string> limits = std::vector<std::string>(limit_flags().size());  // in the flags' order
  std::vector<std::string> roots, natives;
  bool debug = false;
};

void add_common_options(CLI::App& app, CommonTexts& texts) {
  app.add_option("--tier", texts.tier);
  app.add_option("--threads", texts.threads);
  app.add_option("--seed", texts.seed);
  app.add_option("--cache", texts.cache);
  for (std::size_t i = 0; i < limit_flags().size(); ++i)
    app.add_option(std::string(limit_flags()[i].flag), texts.limits[i]);
  app.add_option("--root", texts.roots)->allow_extra_args(false);
  app.add_option("--native", texts.natives)->allow_extra_args(false);
  app.add_flag("--debug", texts.debug);
}

// More would only cost memory; the system may refuse to start so many.
constexpr int most_threads = 1024;

template <class T>
T parse_whole(const std::string& text, std::string_view flag, T least) {
  const std::optional<T> value = whole_number<T>(text);
  if (!value || *value < least) {
    fail_usage("option.value",
               fmt::format("{}: found '{}'; expected an int of at least {}", flag, printable(text), least));
  }
  return *value;
}

void apply_common_options(const CommonTexts& texts, Settings& settings) {
  if (!texts.tier.empty()) {
    static const std::vector<std::string> tiers = {"interp", "jit"};
    if (texts.tier != "interp" && texts.tier != "jit") {
      fail_usage("option.tier", fmt::format("--tier: found '{}'; expected interp or jit{}",
                                            printable(texts.tier), did_you_mean(texts.tier, tiers)));
    }
    settings.tier = texts.tier;
  }
  if (!texts.threads.empty()) {
    settings.threads = parse_whole<int>(texts.threads, "--threads", 1);
    if (settings.threads > most_threads) {
      fail_usage("option.value",
                 fmt::format("--threads: found {}; expected at most {}", settings.threads, most_threads));
    }
  }
  if (!texts.seed.empty()) settings.seed = parse_whole<std::uint64_t>(texts.seed, "--seed", 0);
  for (std::size_t i = 0; i < limit_flags().size(); ++i)
    if (!texts.limits[i].empty()) set_limit(limit_flags()[i], texts.limits[i]);
  if (texts.cache) {
    if (texts.cache->empty()) fail_usage("option.value", "--cache: found ''; expected a folder, or off");
    settings.cache_folder = *texts.cache == "off" ? "" : plain_path(*texts.cache);
  }
  settings.roots = texts.roots;
  for (const std::string& native : texts.natives) NativeFunctions::instance().opt_in(native);
  settings.debug = settings.debug || texts.debug;
  const auto keep = [&](std::string_view flag, const std::string& text) {
    if (!text.empty()) settings.words.insert(settings.words.end(), {std::string(flag), text});
  };
  keep("--tier", texts.tier);
  keep("--threads", texts.threads);
  keep("--seed", texts.seed);
  for (std::size_t i = 0; i < limit_flags().size(); ++i) keep(limit_flags()[i].flag, texts.limits[i]);
  for (const std::string& root : texts.roots) keep("--root", root);
  for (const std::string& native : texts.natives) keep("--native", native);
}

// Where CLI11 leaves what it parsed for one option of the command.
struct Slot {
  const Option* option;
  CLI::Option* parsed = nullptr;
  bool flag = false;
  std::vector<std::string> texts;
};

void add_option(CLI::App& app, Slot& slot) {
  std::string names = "--" + shell_name(slot.option->name);
  if (slot.option->letter) names = fmt::format("-{},{}", slot.option->letter, names);
  if (slot.option->kind == OptionKind::Flag) {
    slot.parsed = app.add_flag(names, slot.flag);
  } else {
    // One value a flag; repeated flags append.
    slot.parsed = app.add_option(names, slot.texts)->allow_extra_args(false);
  }
}

bool appends(OptionKind kind) {
  return kind == OptionKind::Names || kind == OptionKind::Assignments || kind == OptionKind::Value;
}

ScriptValue value_of(const Slot& slot, const Command& command) {
  if (slot.option->kind == OptionKind::Flag) return slot.flag;
  if (appends(slot.option->kind)) {
    std::vector<ScriptValue> items(slot.texts.begin(), slot.texts.end());
    return ScriptValue::list(std::move(items));
  }
  if (slot.texts.size() > 1) {
    fail_usage("option.twice", fmt::format("{}: --{} is given twice", shell_name(command.name),
                                           shell_name(slot.option->name)));
  }
  const std::string& text = slot.texts.front();
  std::string flag = fmt::format("{}: --{}", shell_name(command.name), shell_name(slot.option->name));
  const auto number = [&](const auto& value, std::string_view kind) -> ScriptValue {
    if (value) return *value;
    fail_usage("option.value", fmt::format("{}: found '{}'; expected {}", flag, printable(text), kind));
  };
  if (slot.option->kind == OptionKind::Integer) return number(whole_number<std::int64_t>(text), "an int");
  if (slot.option->kind == OptionKind::Real) return number(real_number(text), "a number");
  return text;
}

// What the script on the command line asks for by arg(); nothing where it cannot be read.
std::set<std::string> arguments_of_script(const std::vector<std::string>& words) {
  const auto path = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return !word.starts_with('-') && access(word.c_str(), R_OK) == 0;
  });
  if (path == words.end()) return {};
  try {
    start_language();
    Diagnostics ignored;
    ReadOptions options;
    options.redefinitions = true;
    return declared_arguments(read_source(read_text(*path).source, options, ignored).script);
  } catch (const Failure&) {
    return {};
  }
}

// How an argument of the script is given, where the flag may be meant as one.
std::string hint_of_argument(const std::vector<std::string>& words, const std::string& flag) {
  const std::set<std::string> arguments = arguments_of_script(words);
  if (arguments.empty()) return "";
  const std::string name = script_name(flag.substr(flag.find_first_not_of('-')));
  if (!arguments.contains(name))
    return fmt::format("; arguments of the script are given as --set NAME=VALUE: {}",
                       fmt::join(arguments, ", "));
  // Its value stands behind it, or in the same word.
  std::string value = "VALUE";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(flag + "=")) value = words[i].substr(flag.size() + 1);
    if (words[i] == flag && i + 1 < words.size() && !words[i + 1].starts_with('-')) value = words[i + 1];
  }
  return fmt::format("; an argument of the script is given as --set {}={}", name, printable(value));
}

// "; here it is --sep", of an option that another library has.
std::string foreign_flag_hint(const Command& command, const std::string& flag) {
  const std::string word = script_name(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  for (const ForeignOption& row : foreign_options()) {
    const bool has = std::any_of(command.options.begin(), command.options.end(), [&](const Option& option) {
      return option.name == row.option && (option.surfaces & in_shell);
    });
    if (row.word != word || !has) continue;
    const bool written = row.write.starts_with(std::string(row.option) + "=");
    return written ? fmt::format("; here it is --{}", shell_name(row.option))
                   : fmt::format("; write {}", row.write);
  }
  return "";
}

// A letter is near to every other one: only the same in the other case is meant by it.
std::string nearest_flag(const std::string& flag, std::vector<std::string> names) {
  if (flag.size() == 2)
    std::erase_if(names, [&](const std::string& name) {
      return name.size() != 2 || std::tolower(static_cast<unsigned char>(name[1])) !=
                                     std::tolower(static_cast<unsigned char>(flag[1]));
    });
  return did_you_mean(flag, names);
}

[[noreturn]] void unknown_flag(const CLI::App& app, const Command& command,
                               const std::vector<std::string>& words, const std::string& given) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  std::string flag = given.substr(0, given.find('='));
  std::string hint = command.name == "run" ? hint_of_argument(words, flag) : "";
  if (hint.empty()) hint = foreign_flag_hint(command, flag);
  if (flag == "-f" && command.transforms) hint = "; it goes over all functions";
  if (const std::string near = nearest_flag(flag, names); !near.empty() && !hint.starts_with("; an ") &&
                                                          !hint.starts_with("; here ") &&
                                                          !hint.starts_with("; write "))
    hint = near;
  fail_usage("option.unknown",
             fmt::format("{}: unknown option '{}'{}", shell_name(command.name), printable(flag), hint));
}

// CLI11's words are its own; only what went wrong is taken from it.
[[noreturn]] void wrong_use(const Command& command, const CLI::ParseError& error) {
  std::string what = error.what();
  if (error.get_name() == "ArgumentMismatch")
    what = fmt::format("{} has no value", what.substr(0, what.find(':')));
  while (!what.empty() && (what.back() == '\n' || what.back() == '.')) what.pop_back();
  fail_usage("option.use", fmt::format("{}: {}", shell_name(command.name), printable(what, 200)));
}

}  // namespace

bool has_own_set(const Command& command) {
  return std::any_of(command.options.begin(), command.options.end(), [](const Option& option) {
    return option.name == "set" && (option.surfaces & in_shell);
  });
}

std::size_t leading_options(const std::vector<std::string>& arguments) {
  CLI::App app;
  CommonTexts common;
  app.set_help_flag();
  add_common_options(app, common);
  static const std::vector<std::string> commands = {"--help", "-h", "--version", "-V", "-e"};
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].size() > 1 && arguments[at][0] == '-') {
    if (std::find(commands.begin(), commands.end(), arguments[at]) != commands.end()) break;
    std::string name = arguments[at].substr(0, arguments[at].find('='));
    const CLI::Option* option = app.get_option_no_throw(name);
    if (!option) {
      std::vector<std::string> names = commands;
      for (const CLI::Option* known : app.get_options()) {
        for (const std::string& long_name : known->get_lnames()) names.push_back("--" + long_name);
      }
      // As other interpreters take code.
      fail_usage("option.unknown", fmt::format("unknown option '{}' before the command{}", printable(name),
                                               name == "-c" || name == "--command" || name == "--eval"
                                                   ? "; -e TEXT runs a line"
                                                   : nearest_flag(name, names)));
    }
    bool alone = option->get_items_expected_max() == 0 || name.size() != arguments[at].size();
    at += alone ? 1 : 2;
  }
  return std::min(at, arguments.size());
}

ParsedCommand parse_command_line(const Command& command, const std::vector<std::string>& arguments,
                                 Settings& settings) {
  ParsedCommand result;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  CommonTexts common;
  add_common_options(app, common);
  app.add_flag("-h,--help", result.wants_help);
  bool takes_function = command.subject == Subject::Function || command.subject == Subject::Call ||
                        command.subject == Subject::Expression;
  if (takes_function) app.add_option("-f,--function", result.function);
  std::deque<Slot> slots;
  // Values of arg() in the file, but where the command has a --set of its own.
  std::vector<std::string> sets;
  const bool reads_text = command.subject != Subject::None && command.subject != Subject::Name;
  if (reads_text && !has_own_set(command)) app.add_option("--set", sets)->allow_extra_args(false);
  for (const Option& option : command.options) {
    if (!(option.surfaces & in_shell)) continue;
    slots.push_back({&option, nullptr, false, {}});
    add_option(app, slots.back());
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    wrong_use(command, error);
  }
  bool only_positionals = false;
  for (const std::string& extra : app.remaining()) {
    if (extra == "--" && !only_positionals) {
      only_positionals = true;
      continue;
    }
    if (!only_positionals && extra.size() > 1 && extra[0] == '-')
      unknown_flag(app, command, app.remaining(), extra);
    result.positionals.push_back(extra);
  }
  apply_common_options(common, settings);
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
      fail_usage("option.value", fmt::format("--set: found '{}'; expected NAME=VALUE", printable(set)));
    settings.sets.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  if (result.wants_help) return result;
  for (const Slot& slot : slots) {
    bool given = slot.parsed->count() > 0;
    if (!given && slot.option->required) {
      fail_usage("option.missing", fmt::format("{}: the option --{} is missing", shell_name(command.name),
                                               shell_name(slot.option->name)));
    }
    // --html=false is as good as nothing.
    if (slot.option->kind == OptionKind::Flag && !slot.flag) given = false;
    if (given) result.options.emplace_back(slot.option->name, value_of(slot, command));
  }
  return result;
}

}  // namespace relish
