// The commands `:set` and `:tier`: options that affect numbers, which are part of the state.
#include <algorithm>

#include "runtime/native.h"
#include "shell/commands/subject.h"
#include "shell/workspace/workspace.h"
#include "support/render.h"
#include "support/suggest.h"
#include "support/value_text.h"

namespace relish::commands_settings {
namespace {

const std::vector<std::string> option_names = {"tier", "threads", "seed", "native"};
constexpr int most_threads = 1024;

[[noreturn]] void bad_value(const std::string& name, const std::string& text, std::string_view expected) {
  fail(ErrorClass::Usage, {}, "option.value",
       fmt::format("set: {}: found '{}'; expected {}", name, printable(text), expected));
}

std::string value_text(const StateOptions& options, std::string_view name) {
  if (name == "tier") return options.tier;
  if (name == "seed") return std::to_string(options.seed);
  return options.threads == 0 ? "as many as the process may use" : std::to_string(options.threads);
}

ScriptValue change(Workspace& workspace, const std::string& name, const std::string& text) {
  if (name == "threads") {
    const auto count = whole_number<int>(text);
    if (!count || *count < 1 || *count > most_threads)
      bad_value(name, text, fmt::format("an int from 1 to {}", most_threads));
  }
  if (name == "seed" && !whole_number<std::uint64_t>(text)) bad_value(name, text, "an int of at least 0");
  if (name == "native") {
    // A library that is open stays open; states do not differ by it.
    NativeFunctions::instance().opt_in(text);
    return {};
  }
  workspace.set_option(name, text);
  return {};
}

ScriptValue run_set(Invocation& invocation) {
  Workspace& workspace = *invocation.workspace;
  const std::vector<std::string>& words = invocation.files;
  const StateOptions& options = workspace.state().options;
  if (words.empty())
    return fmt::format("tier {}\nthreads {}\nseed {}", value_text(options, "tier"),
                       value_text(options, "threads"), value_text(options, "seed"));
  const std::string& name = words.front();
  if (std::find(option_names.begin(), option_names.end(), name) == option_names.end()) {
    fail(ErrorClass::Usage, {}, "option.unknown",
         fmt::format("set: unknown option '{}'; expected tier, threads, seed or native{}", printable(name),
                     did_you_mean(name, option_names)));
  }
  if (words.size() > 2) fail(ErrorClass::Usage, {}, "command.subject", "set takes an option and its value");
  if (words.size() == 2) return change(workspace, name, words[1]);
  if (name == "native")
    fail(ErrorClass::Usage, {}, "option.value", "set: native takes LIB.so or NAME=LIB.so:SYMBOL");
  return name + " " + value_text(options, name);
}

ScriptValue run_tier(Invocation& invocation) {
  if (invocation.files.size() > 1) fail(ErrorClass::Usage, {}, "command.subject", "tier takes interp or jit");
  if (invocation.files.empty()) return "tier " + invocation.workspace->state().options.tier;
  return change(*invocation.workspace, "tier", invocation.files.front());
}

constexpr Example set_examples[] = {{"", ":set threads 2"}, {"", ":set"}};
constexpr Example tier_examples[] = {{"", ":tier interp"}};

}  // namespace

extern const Command command_set;
const Command command_set{
    .name = "set",
    .summary = "changes tier, threads or seed, opens a native library, or shows what is set",
    .run = run_set,
    .examples = set_examples,
    .doc = "What is set is part of the state: :undo takes it back. A new seed begins its numbers anew.",
    .surfaces = in_session,
    .arguments = "[NAME [VALUE]]",
};

extern const Command command_tier;
const Command command_tier{
    .name = "tier",
    .summary = "chooses the engine, or shows it",
    .run = run_tier,
    .examples = tier_examples,
    .surfaces = in_session,
    .arguments = "[interp|jit]",
};

}  // namespace relish::commands_settings
