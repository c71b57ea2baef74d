// The command `sweep`: one job for each combination of values of a script's arguments.
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "jit/jit.h"
#include "shell/command.h"
#include "shell/commands/training/child_jobs.h"
#include "shell/commands/training/run_table.h"
#include "shell/commands/training/sweep_plan.h"
#include "shell/commands/training/training.h"
#include "shell/program/program_file.h"
#include "shell/script/constant_values.h"
#include "support/atomic_file.h"
#include "support/file_access.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/render.h"
#include "support/suggest.h"

namespace relish::commands_sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view plan_file = "sweep.json", results_file = "results.md";

constexpr Option options[] = {
    {"jobs", OptionKind::Integer, "1", "how many run at a time; the threads are shared among them", 0,
     in_shell},
    {"random", OptionKind::Integer, "all combinations", "so many combinations, drawn by --seed", 0, in_shell},
    {"set", OptionKind::Assignments, "", "value of another arg() of the script: NAME=VALUE", 0, in_shell},
    {"run_dir", OptionKind::OutputFolder, "runs/<script>-sweep-<number>",
     "folder of the sweep: a run folder and "
     "a log for each job, sweep.json, results.md",
     0, in_shell},
    {"resume", OptionKind::Text, "",
     "auto: go on with the sweep in the folder, where that is the same script; "
     "without --run-dir the folder of the script with the greatest number",
     0, in_shell},
    {"checkpoint_every", OptionKind::Text, "60s", checkpoint_every_doc, 0, in_shell},
    {"keep", OptionKind::Integer, "3", keep_doc, 0, in_shell},
    {"log_every", OptionKind::Text, "100", log_every_doc, 0, in_shell},
    {"tensorboard", OptionKind::Flag, "", tensorboard_doc, 0, in_shell},
    {"html", OptionKind::Flag, "", html_doc, 0, in_shell},
    {"time_limit", OptionKind::Text, "", "end all with exit code 75 when the sweep has run so long: 2h", 0,
     in_shell},
};
constexpr Example examples[] = {{"relish sweep train.relish lr=0.1,0.01 width=64,128 --jobs 2", ""}};

struct Sweep {
  std::string script, text;  // its path, and what stands there
  std::string folder;
  std::vector<SweepPoint> points;
  std::vector<std::string> options;  // of all jobs, that may change what they compute
  std::string path_of(const SweepPoint& point) const { return folder + "/" + point.folder; }
};

std::string words_of(const SweepPoint& point) {
  std::string words;
  for (const auto& [name, value] : point.values) words += (words.empty() ? "" : " ") + name + "=" + value;
  return words;
}

std::int64_t positive(const Invocation& invocation, std::string_view option, std::int64_t otherwise) {
  const std::int64_t value = invocation.integer(option, otherwise);
  if (invocation.given(option) && value < 1)
    invocation.refuse_value(option, fmt::format("found {}; expected at least 1", value));
  return value;
}

// The plan of the sweep that stands in a folder; null when none does.
Json plan_in(const std::string& folder) {
  std::error_code error;
  const std::string path = folder + "/" + std::string(plan_file);
  if (!fs::is_regular_file(path, error)) return {};
  std::ifstream file(path);
  Json plan = Json::parse(file, nullptr, false);
  if (!plan.is_object() || !plan.contains("script") || !plan["script"].is_string()) return {};
  return plan;
}

// What a plan says of the points that ended well before.
void take_done(const Json& plan, std::vector<SweepPoint>& points) {
  const auto entries = plan.find("points");
  if (entries == plan.end() || !entries->is_array()) return;
  std::map<std::string, std::vector<std::string>> done;
  for (const Json& entry : *entries) {
    if (!entry.is_object() || !entry.contains("done_with") || !entry.contains("folder")) continue;
    const Json &folder = entry["folder"], &words = entry["done_with"];
    const auto is_text = [](const Json& word) { return word.is_string(); };
    if (!folder.is_string() || !words.is_array() || !std::all_of(words.begin(), words.end(), is_text))
      continue;
    done[folder.get<std::string>()] = words.get<std::vector<std::string>>();
  }
  for (SweepPoint& point : points)
    if (const auto found = done.find(point.folder); found != done.end()) point.done_with = found->second;
}

// The folder, held for this process; what stands in it stays unless it is of this sweep.
Descriptor take_folder(const Invocation& invocation, Sweep& sweep) {
  RunFolderOptions place;
  place.directory = invocation.given("run_dir") ? invocation.output_path("run_dir") : "";
  place.script = fs::path(sweep.script).stem().string() + "-sweep";
  place.resume = invocation.given("resume");
  if (place.resume && invocation.text("resume") != resume_newest)
    invocation.refuse_value("resume", fmt::format("found '{}'; expected auto; --run-dir names the folder",
                                                  printable(invocation.text("resume"))));
  sweep.folder = make_run_folder(place);
  const Json plan = plan_in(sweep.folder);
  const std::string before = plan.is_null() ? "" : plan["script"].get<std::string>();
  const auto refuse = [&](const std::string& what, std::string_view expected) {
    fail(ErrorClass::Usage, {}, "sweep.run_dir",
         fmt::format("run_dir: {} holds {}; expected {}", printable(sweep.folder), what, expected));
  };
  std::error_code error;
  const bool empty = fs::is_empty(sweep.folder, error);
  if (before.empty() && !empty) refuse("files that no sweep wrote", "a new folder");
  if (!before.empty() && !place.resume)
    refuse("the sweep of " + printable(before), "a new folder, or --resume auto, which goes on with it");
  if (!before.empty() && before != sweep.script)
    refuse("the sweep of " + printable(before), "a new folder for " + printable(sweep.script));
  Descriptor lock(open_in_run_folder(sweep.folder + "/lock", O_RDWR | O_CREAT));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    run_folder_failure(sweep.folder, "cannot lock", std::string("another sweep runs in this folder"));
  if (!plan.is_null()) take_done(plan, sweep.points);
  return lock;
}

void write_plan(const Sweep& sweep) {
  Json plan = {{"script", sweep.script}, {"points", Json::array()}};
  for (const SweepPoint& point : sweep.points) {
    Json values = Json::object();
    for (const auto& [name, value] : point.values) values[name] = value;
    plan["points"].push_back({{"folder", point.folder}, {"values", std::move(values)}});
    if (point.done_with) plan["points"].back()["done_with"] = *point.done_with;
  }
  write_file_atomically(sweep.folder + "/" + std::string(plan_file),
                        plan.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Whether the job of a point is done, by the text that the script still has and the options that it ran with;
// with other ones it is run once more, and says whether it goes on, is done, or is another.
bool is_done(const Sweep& sweep, const SweepPoint& point) {
  if (point.done_with != sweep.options) return false;
  const std::string path = sweep.path_of(point);
  if (!is_run_folder(path) || read_run(path).state != "finished") return false;
  std::ifstream file(path + "/script.relish", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text == sweep.text;
}

std::vector<std::string> arguments_of(const Invocation& invocation, const Sweep& sweep,
                                      const SweepPoint& point, std::size_t together) {
  std::vector<std::string> words = {"run",      sweep.script, "--run-dir", sweep.path_of(point),
                                    "--resume", "auto"};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  words.insert(words.end(), sweep.options.begin(), sweep.options.end());
  for (const auto& [name, value] : point.values) add({"--set", name + "=" + value});
  for (const char* option : {"checkpoint_every", "keep", "log_every"})
    if (const ScriptValue* value = invocation.find(option)) add({"--" + shell_name(option), text_of(*value)});
  for (const std::string flag : {"tensorboard", "html"})
    if (invocation.flag(flag)) add({"--" + flag});
  const Settings& settings = invocation.session.settings();
  if (settings.threads == 0 && together > 1) {
    const auto threads = static_cast<std::size_t>(describe_machine().threads);
    add({"--threads", std::to_string(std::max<std::size_t>(threads / together, 1))});
  }
  return words;
}

// What a child said at last, for a line about its failure.
std::string last_line_of(const std::string& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (line.find("error[") != std::string::npos) last = line;
  return last;
}

std::string ending_of(const Sweep& sweep, const SweepPoint& point, int code) {
  const std::string path = sweep.path_of(point);
  const bool stopped = code == exit_code_of(ErrorClass::TimeLimit) || code > 128;
  if (stopped && !is_run_folder(path)) return fmt::format("stopped with exit code {}", code);
  if (code != 0 && !stopped) {
    const std::string said = last_line_of(path + ".log");
    return fmt::format("exit code {}{}", code, said.empty() ? "" : ": " + printable(said, 200));
  }
  if (!is_run_folder(path)) return "ended; it trained nothing";
  const RunRecord run = read_run(path);
  const std::optional<BestPoint> best = best_of(run, judged_metric(run));
  return fmt::format("{}, step {}{}", run.state, run.step,
                     best ? fmt::format(", best {} {}", best->metric, short_number(best->point.value)) : "");
}

// The table of all that has a report, best first; also as a page in the folder.
std::string results_of(const Sweep& sweep) {
  std::vector<RunRecord> runs;
  for (const SweepPoint& point : sweep.points)
    if (is_run_folder(sweep.path_of(point))) runs.push_back(read_run(sweep.path_of(point)));
  if (runs.empty()) return "no job has a report";
  for (RunRecord& run : runs) run.path = fs::path(run.path).filename().string();
  order_by_result(runs);
  const std::string table = run_table(runs);
  write_file_atomically(sweep.folder + "/" + std::string(results_file),
                        fmt::format("# Sweep of {}\n\n```text\n{}\n```\n", sweep.script, table));
  return table;
}

// Runs what is not done; the first exit code that is not 0, in the order of the points.
int run_points(const Invocation& invocation, Sweep& sweep, std::size_t together) {
  std::vector<ChildJob> jobs;
  std::vector<SweepPoint*> points;
  for (SweepPoint& point : sweep.points) {
    if (is_done(sweep, point)) {
      invocation.session.print(words_of(point) + ": was done");
      continue;
    }
    points.push_back(&point);
    jobs.push_back({arguments_of(invocation, sweep, point, together), sweep.path_of(point) + ".log"});
  }
  std::vector<int> codes(jobs.size(), 0);
  std::size_t done = 0;
  run_child_jobs(
      jobs, together,
      [&](std::size_t i) {
        write_error_text(fmt::format("{}: begins in {}\n", words_of(*points[i]), sweep.path_of(*points[i])));
      },
      [&](std::size_t i, int code) {
        codes[i] = code;
        if (code == 0) {
          points[i]->done_with = sweep.options;
          write_plan(sweep);
        }
        invocation.session.print(fmt::format("{}: {} ({} of {})", words_of(*points[i]),
                                             ending_of(sweep, *points[i], code), ++done, jobs.size()));
        invocation.session.output().flush();
      });
  const auto failed = std::find_if(codes.begin(), codes.end(), [](int code) { return code != 0; });
  return failed == codes.end() ? 0 : *failed;
}

// What no job could be run with is refused before there is a folder.
void check_names(const Sweep& sweep, const std::vector<SweepAxis>& axes,
                 const std::vector<std::pair<std::string, ScriptValue>>& set) {
  start_language();
  Diagnostics ignored;  // of the script: its first job tells them, with the values that it has
  ReadOptions options;
  options.redefinitions = true;
  const ReadResult read = read_source(Sources::instance().add(sweep.script, sweep.text), options, ignored);
  const std::set<std::string> declared = declared_arguments(read.script);
  const std::vector<std::string> known(declared.begin(), declared.end());
  const auto check = [&](const std::string& name) {
    if (declared.contains(name)) return;
    fail(ErrorClass::Usage, {}, "sweep.values",
         fmt::format("{} declares no argument '{}'{}", printable(sweep.script), printable(name),
                     did_you_mean(name, known)));
  };
  for (const SweepAxis& axis : axes) check(axis.name);
  for (const auto& [name, value] : set) check(name);
}

ScriptValue run(Invocation& invocation) {
  start_time_limit(invocation);
  if (invocation.files.size() < 2)
    fail(ErrorClass::Usage, {}, "sweep.values",
         "found no values; expected SCRIPT NAME=VALUE,VALUE such as train.relish lr=0.1,0.01");
  Sweep sweep;
  sweep.script = invocation.files.front();
  if (sweep.script == "-")
    fail(ErrorClass::Usage, {}, "sweep.values",
         "found a script from standard input, which only one process can read; expected a file");
  sweep.text = read_file(sweep.script, limits().max_source_bytes, "--max-source-size");
  const auto together = static_cast<std::size_t>(positive(invocation, "jobs", 1));
  const std::int64_t most = positive(invocation, "random", 0);
  const std::vector<SweepAxis> axes = sweep_axes({invocation.files.begin() + 1, invocation.files.end()});
  for (const auto& [name, value] : invocation.assignments("set"))
    for (const SweepAxis& axis : axes)
      if (axis.name == name)
        invocation.refuse_value("set", fmt::format("found {}, whose values are swept", printable(name)));
  check_names(sweep, axes, invocation.assignments("set"));
  check_job_options(invocation);
  for (const auto& [name, value] : invocation.assignments("set"))
    sweep.options.insert(sweep.options.end(), {"--set", name + "=" + text_of(value)});
  const std::vector<std::string>& words = invocation.session.settings().words;
  sweep.options.insert(sweep.options.end(), words.begin(), words.end());
  sweep.points = sweep_points(axes, most, invocation.session.settings().seed);
  const Descriptor lock = take_folder(invocation, sweep);
  write_plan(sweep);
  invocation.exit_code = run_points(invocation, sweep, together);
  if (interrupt_flag.load() != 0) {
    note_interrupt(
        fmt::format("the jobs saved what they had; --run-dir {} --resume auto goes on", sweep.folder));
    poll_interrupt();
  }
  return results_of(sweep);
}

}  // namespace

extern const Command command_sweep;
const Command command_sweep{
    .name = "sweep",
    .summary = "trains a script once for each combination of values of its arguments",
    .subject = Subject::Files,
    .options = options,
    .run = run,
    .examples = examples,
    .doc =
        "Behind the script stand its arguments with their values: NAME=VALUE,VALUE. Each combination is a job of "
        "its own, in a run folder of its own and with the output in a log beside it. A signal or the time limit "
        "ends all of them, saved; the same line with --resume auto goes on, leaves out what is done, and may have "
        "more values. At the end stands a table of the results, the best first, which results.md has too. The "
        "exit code is that of the first job that failed.",
    .surfaces = in_shell,
};

}  // namespace relish::commands_sweep
