// Golden files that run: each is executed in all configurations, and their outputs must agree: the tiers by
// the table of tolerances, thread counts to the bit, and the program printed and read back as the program
// itself.
#include <filesystem>
#include <map>
#include <memory>

#include "interp/interpreter.h"
#include "loops/prim_calls.h"
#include "schedule/fusion/fuse.h"
#include "schedule/schedule.h"
#include "shell/script/script.h"
#include "shell/script/script_exit.h"
#include "shell/session.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "tests/golden/captured_errors.h"
#include "tests/golden/commands.h"
#include "tests/golden/reading.h"
#include "tests/golden/tolerance.h"
#include "tests/unit/temporary_folder.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

struct Configuration {
  const char* name;
  const char* tier;
  int threads;
  bool printed;            // via print and read
  const char* like;        // the configuration it is compared with
  bool bitwise;            // its output must be the same text
  bool scheduled = false;  // what the compiled tier runs, as text, in the interpreter
};

// The whole matrix. A later configuration is compared with an earlier one.
constexpr Configuration configurations[] = {
    {"interpreter", "interp", 1, false, nullptr, true},
    {"jit, 1 thread", "jit", 1, false, "interpreter", false},
    {"jit, 2 threads", "jit", 2, false, "jit, 1 thread", true},
    {"printed and read, interpreter", "interp", 1, true, "interpreter", true},
    {"scheduled, interpreter", "interp", 1, false, "interpreter", false, true},
};

// Runs the loops that compiled code runs, for as long as they are text. Faults are told of other lines. A
// program that calls its modules in turn lowers each of them, and holds it to the law, once.
class ScheduledInterpreter final : public Evaluator {
 public:
  std::string_view name() const override { return "interp"; }
  Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
    ModulePtr& scheduled = scheduled_[module];
    if (!scheduled) {
      Module lowered = schedule(fuse(legalize(prim_calls_inlined(module))));
      for (const std::string& problem : round_trip_problems(lowered, "scheduled"))
        throw std::logic_error(problem);
      scheduled = std::make_shared<const Module>(std::move(lowered));
    }
    return interpreter_->call(scheduled, function, std::move(args));
  }

 private:
  std::unique_ptr<Evaluator> interpreter_ = make_interpreter();
  std::map<ModulePtr, ModulePtr> scheduled_;  // by what they were made from, which they keep
};

Settings settings_of(const GoldenFile& file, const Configuration& configuration,
                     const std::string& run_folder, const std::string& code_folder) {
  Settings settings;
  settings.cache_folder = code_folder;
  settings.tier = configuration.tier;
  settings.threads = configuration.threads;
  if (configuration.scheduled)
    settings.make_interpreter = [] { return std::make_unique<ScheduledInterpreter>(); };
  const std::vector<std::string> words = file.words();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "--set") continue;
    const std::size_t equals = words[i + 1].find('=');
    settings.sets.emplace_back(words[i + 1].substr(0, equals), words[i + 1].substr(equals + 1));
  }
  if (!run_folder.empty()) settings.job_flags.emplace_back("run_dir", run_folder);
  return settings;
}

// The process works in a folder until the end of the block: jobs that name none leave there what they leave.
class InFolder {
 public:
  explicit InFolder(const std::string& path) { std::filesystem::current_path(path); }
  InFolder(const InFolder&) = delete;
  ~InFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

// In `folder`, which is empty.
Outcome run_once(const GoldenFile& file, const Configuration& configuration, const std::string& source,
                 const std::string& folder, const std::string& run_folder, const std::string& code_folder) {
  auto output = std::make_unique<StringOutput>();
  const StringOutput& text = *output;
  Session session(settings_of(file, configuration, run_folder, code_folder), std::move(output));
  ScriptOptions options;
  options.folder = std::filesystem::absolute(file.path).parent_path().string();
  const InFolder there(folder);
  Outcome outcome;
  CapturedErrors errors;
  with_big_stack([&] {
    try {
      Script script(session, options);
      script.run_text(std::filesystem::path(file.path).filename().string(), source);
    } catch (const Failure& failure) {
      outcome.diagnostics = failure.diagnostics();
      outcome.exit_code = failure.exit_code();
    } catch (const ScriptExit& exit) {
      outcome.exit_code = exit.code;
    }
  });
  outcome.output = text.text();
  outcome.error_output = errors.take();
  return outcome;
}

std::string first_message(const Outcome& outcome) {
  if (outcome.diagnostics.empty()) return "success";
  const Diagnostic& first = outcome.diagnostics.front();
  return fmt::format("{}: {}", name_of(first.error_class), first.message);
}

std::string place_of(const Outcome& outcome) {
  if (outcome.diagnostics.empty()) return {};
  const Span span = outcome.diagnostics.front().span;
  const SourceFile* source = Sources::instance().find(span.file);
  if (!source) return "no place";
  const LineColumn at = source->position(span.begin);
  return fmt::format("{}:{}", at.line, at.column);
}

// Adds to `outcome` what `other`, run as `configuration`, does differently.
void compare(Outcome& problems, const Outcome& wanted, const Outcome& other,
             const Configuration& configuration, int agreement_class) {
  const std::string text = configuration.bitwise
                               ? text_disagreement(other.output, wanted.output, 2)
                               : text_disagreement(other.output, wanted.output, agreement_class);
  if (!text.empty()) {
    problems.problems.push_back(
        fmt::format("{} disagrees with {}: {}", configuration.name, configuration.like, text));
  } else if (configuration.bitwise && other.output != wanted.output) {
    problems.problems.push_back(
        fmt::format("{} prints another layout than {}", configuration.name, configuration.like));
  }
  if (first_message(other) != first_message(wanted)) {
    problems.problems.push_back(fmt::format("{} ends with '{}', {} with '{}'", configuration.name,
                                            first_message(other), configuration.like, first_message(wanted)));
  } else if (!configuration.printed && place_of(other) != place_of(wanted)) {
    problems.problems.push_back(fmt::format("{} fails at {}, {} at {}", configuration.name, place_of(other),
                                            configuration.like, place_of(wanted)));
  }
}

Outcome run_matrix(const GoldenFile& file, int default_class, bool with_run_folder) {
  const int agreement_class = file.tolerance.empty() ? default_class : std::stoi(file.tolerance);
  const std::optional<std::string> only_tier = file.option("--tier");
  // In its own dialect, which must be able to say what the file says.
  const std::string printed = printed_source(file, dialect_of(file));

  std::vector<std::pair<std::string, Outcome>> done;
  std::vector<std::string> problems;
  // The code of one thread serves two: it is the same, and is found where a process would find that of
  // another.
  TemporaryFolder code;
  for (const Configuration& configuration : configurations) {
    if (configuration.scheduled && done.front().second.exit_code != 0) continue;
    if (only_tier && *only_tier != configuration.tier) continue;
    if (configuration.printed && printed.empty()) continue;
    TemporaryFolder folder;
    const std::string run_folder = with_run_folder ? folder.file("run") : "";
    Outcome outcome = run_once(file, configuration, configuration.printed ? printed : file.source,
                               folder.path(), run_folder, code.file("code"));
    for (const auto& [name, earlier] : done) {
      if (configuration.like && name == configuration.like) {
        Outcome found;
        compare(found, earlier, outcome, configuration, agreement_class);
        problems.insert(problems.end(), found.problems.begin(), found.problems.end());
      }
    }
    done.emplace_back(configuration.name, std::move(outcome));
  }
  // What the file expects is what the first configuration gives.
  Outcome result = std::move(done.front().second);
  result.problems.insert(result.problems.end(), problems.begin(), problems.end());
  const std::vector<std::string> law = round_trip_problems(file);
  result.problems.insert(result.problems.end(), law.begin(), law.end());
  return result;
}

}  // namespace

Outcome run_script(const GoldenFile& file) { return run_matrix(file, class_of_models, false); }

Outcome run_training(const GoldenFile& file) { return run_matrix(file, class_of_training, true); }

}  // namespace relish::testing
