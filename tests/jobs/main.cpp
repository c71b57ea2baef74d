// jobs [--kills N] [--signals N] [--seed S]: what a training job must survive, tried on the program as a
// process. A job is killed at random moments and resumed until it is done, and must end with the same bytes
// as one that nobody disturbed, with each step in its metrics once. Signals and time limits end it in time,
// with their exit codes, and name what was saved.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/golden/process.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

// A perceptron with batch_norm, dropout, augmentation, a schedule, Adam with a group of its own, steps in
// bfloat16, shuffled rows and validation; a few seconds.
constexpr const char* job_text = R"job(@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w0: R.Tensor((64, 96), "float32"), b0: R.Tensor((96,), "float32"),
             gamma: R.Tensor((96,), "float32"), running_mean: R.Tensor((96,), "float32"),
             running_var: R.Tensor((96,), "float32"), w1: R.Tensor((96, 10), "float32"),
             b1: R.Tensor((10,), "float32")) -> R.Tensor(("n", 10), "float32"):
        normed = R.nn.batch_norm(R.matmul(x, w0), gamma, b0, running_mean, running_var, axis=1)
        h = R.nn.dropout(R.nn.relu(normed[0]), 0.2)
        y = R.add(R.matmul(h[0], w1), b1)
        return y

    @R.function
    def shaken(x: R.Tensor(("n", 64), "float32"), key: R.Tensor((2,), "uint32")):
        return R.add(x, R.multiply(R.random.uniform(key, (64,)), R.const(0.05, "float32")))

x = rand((1000, 64), seed=1)
y = R.argmax(rand((1000, 10), seed=2), axis=1)
t = train(Net.main, data=(x, y), loss="cross_entropy", optimizer="adam(lr=0.001)", schedule="cosine(warmup=20)",
          validation=(x, y), metrics=["accuracy"], epochs=arg("epochs", 60), batch_size=32, log_every=7,
          average=0.98, early_stopping="loss(patience=1000)", groups={"b*": {"lr": 0.002}}, clip_norm=1.0,
          prepare=Net.shaken, precision=arg("precision", "bf16"), accumulate=arg("accumulate", 1))
print(t["status"], t["steps"])
)job";

// A step of the job that is saved, and how long a job may take to end on a busy machine.
constexpr int steps_between_checkpoints = 20;
constexpr double most_seconds_to_end = 2;
constexpr double slack_of_a_busy_machine = 3;

int problems = 0;

void report(const std::string& what, const std::string& problem) {
  if (problem.empty()) return;
  ++problems;
  fmt::print("{}: {}\n", what, problem);
}

class JobFolder {
 public:
  // `settings`: what the command line sets, "--set" and its values.
  explicit JobFolder(std::vector<std::string> settings = {}) : settings_(std::move(settings)) {
    folder_.put("job.relish", job_text);
  }

  ProcessRequest request(std::vector<std::string> more = {}, int every = steps_between_checkpoints) const {
    ProcessRequest request;
    request.folder = folder_.path();
    request.arguments = {"run",           "job.relish",         "--run-dir",          "out",
                         "--tensorboard", "--checkpoint-every", std::to_string(every)};
    request.arguments.insert(request.arguments.end(), settings_.begin(), settings_.end());
    request.arguments.insert(request.arguments.end(), more.begin(), more.end());
    request.limit_seconds = 120;
    return request;
  }
  std::string file(std::string_view name) const { return folder_.file("out/" + std::string(name)); }
  void clear() const { fs::remove_all(folder_.file("out")); }

  // Of the newest checkpoint by its name; 0 for none.
  std::int64_t newest_step() const {
    std::int64_t newest = 0;
    std::error_code error;
    for (fs::directory_iterator entries(file("checkpoints"), error), end; !error && entries != end;
         entries.increment(error)) {
      const std::string name = entries->path().stem().string();
      std::int64_t step = 0;
      if (name.starts_with("step-")) std::from_chars(name.data() + 5, name.data() + name.size(), step);
      newest = std::max(newest, step);
    }
    return newest;
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> settings_;
};

std::vector<std::int64_t> steps_in_metrics(const JobFolder& job) {
  std::istringstream text(bytes_of(job.file("metrics.jsonl")));
  std::vector<std::int64_t> steps;
  for (std::string line; std::getline(text, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    steps.push_back(json.is_object() ? json.value("step", std::int64_t{-1}) : -1);
  }
  return steps;
}

// Records of an event file by their lengths: 12 bytes before each event, 4 behind it.
std::size_t records_of_events(const std::string& bytes) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + 8 <= bytes.size(); ++count) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += 16 + length;
  }
  return count;
}

struct Undisturbed {
  std::vector<std::string> settings;
  std::string weights;
  std::vector<std::int64_t> steps;
  double milliseconds = 0;
};

Undisturbed run_undisturbed(const std::vector<std::string>& settings = {}) {
  const JobFolder job(settings);
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_program(job.request());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (result.exit_code != 0) report("the undisturbed job", result.error_output);
  return {settings, bytes_of(job.file("final.safetensors")), steps_in_metrics(job), time.count()};
}

std::string compare_with(const JobFolder& job, const Undisturbed& whole) {
  if (bytes_of(job.file("final.safetensors")) != whole.weights) return "the final weights differ";
  if (steps_in_metrics(job) != whole.steps) return "the steps in metrics.jsonl differ";
  // One for each step, behind that of the version.
  if (records_of_events(bytes_of(job.file("events.out.tfevents.relish"))) != whole.steps.size() + 1)
    return "the steps in the events differ";
  if (!bytes_of(job.file("report.md")).starts_with("# job.relish: finished")) return "the page is another";
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(job.file(""), error))
    if (entry.path().extension() == ".tmp") return "left " + entry.path().filename().string();
  return "";
}

// Kills the job at random moments and lets it go on, until so many kills; then lets it finish.
void try_kills(int kills, std::mt19937_64& random, const Undisturbed& whole) {
  const JobFolder job(whole.settings);
  int done = 0;
  while (done < kills) {
    ProcessRequest request = job.request({"--resume", "auto", "--threads", random() % 2 ? "1" : "2"});
    request.signal = SIGKILL;
    request.signal_after_ms =
        static_cast<int>(random() % static_cast<std::uint64_t>(std::max(whole.milliseconds * 0.7, 200.0)));
    const std::int64_t before = job.newest_step();
    const ProcessResult result = run_program(request);
    const std::string what = fmt::format("kill {} after {} ms", done, request.signal_after_ms);
    if (job.newest_step() < before) report(what, "a checkpoint is gone");
    if (!result.killed_by_signal) {
      report(what, result.exit_code == 0
                       ? compare_with(job, whole)
                       : fmt::format("exit code {}: {}", result.exit_code, result.error_output));
      job.clear();
    }
    ++done;
  }
  const ProcessResult rest = run_program(job.request({"--resume", "auto"}));
  if (rest.exit_code != 0) report("the rest of a killed job", rest.error_output);
  report("a killed job", compare_with(job, whole));
}

std::string failing_signal(int signal, int after_ms, const Undisturbed& whole) {
  const JobFolder job;
  ProcessRequest request = job.request();
  request.signal = signal;
  request.signal_after_ms = after_ms;
  const ProcessResult result = run_program(request);
  if (result.exit_code == 0) return compare_with(job, whole);
  if (result.exit_code != 128 + signal || result.killed_by_signal)
    return fmt::format("exit code {}: {}", result.exit_code, result.error_output);
  if (result.signal_to_end_ms > 1000 * most_seconds_to_end * slack_of_a_busy_machine)
    return fmt::format("took {:.0f} ms", result.signal_to_end_ms);
  const std::int64_t step = job.newest_step();
  std::string last = result.error_output;
  while (last.ends_with('\n')) last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  if (step > 0 && last.find(fmt::format("checkpoint of step {} of", step)) == std::string::npos)
    return fmt::format("the last line does not name step {}: {}", step, last);
  if (fs::exists(job.file("final.safetensors"))) return "left final.safetensors";
  const ProcessResult rest = run_program(job.request({"--resume", "auto"}));
  if (rest.exit_code != 0) return "cannot go on: " + rest.error_output;
  if (step > 0 && rest.error_output.find(fmt::format("goes on behind step {} of", step)) == std::string::npos)
    return "does not say from where it goes on: " + rest.error_output;
  return compare_with(job, whole);
}

std::string failing_save_request(const Undisturbed& whole) {
  const JobFolder job;
  ProcessRequest request = job.request({}, 1000000);
  request.signal = SIGUSR1;
  request.signal_after_ms = static_cast<int>(whole.milliseconds / 2);
  const ProcessResult result = run_program(request);
  if (result.exit_code != 0) return fmt::format("exit code {}: {}", result.exit_code, result.error_output);
  return compare_with(job, whole);
}

std::string failing_time_limit(const Undisturbed& whole) {
  const JobFolder job;
  ProcessResult result =
      run_program(job.request({"--time-limit", fmt::format("{:.3f}s", whole.milliseconds / 2000)}));
  if (result.exit_code != 75) return fmt::format("exit code {}: {}", result.exit_code, result.error_output);
  if (result.error_output.find("error[TimeLimit]: stopped by the time limit") == std::string::npos)
    return result.error_output;
  const auto report_json = nlohmann::json::parse(bytes_of(job.file("report.json")), nullptr, false);
  if (job.newest_step() > 0 && report_json.value("status", "") != "time_limit")
    return "report.json says " + report_json.value("status", "");
  result = run_program(job.request({"--resume", "auto"}));
  if (result.exit_code != 0) return "cannot go on: " + result.error_output;
  return compare_with(job, whole);
}

std::string failing_refusals() {
  const JobFolder job;
  if (run_program(job.request({"--set", "epochs=2"})).exit_code != 0) return "a short job fails";
  const std::string weights = bytes_of(job.file("final.safetensors"));
  ProcessResult result = run_program(job.request({"--set", "epochs=2"}));
  if (result.exit_code != 2 || bytes_of(job.file("final.safetensors")) != weights)
    return fmt::format("a finished job is not kept: exit code {}", result.exit_code);
  // The schedule ends elsewhere: another program.
  result = run_program(job.request({"--set", "epochs=3", "--resume", "auto"}));
  if (result.exit_code != 9 ||
      result.error_output.find("option steps is 96, the checkpoint has 64") == std::string::npos)
    return fmt::format("another program: exit code {}: {}", result.exit_code, result.error_output);
  if (bytes_of(job.file("final.safetensors")) != weights) return "a refused job changed the weights";
  result = run_program(job.request({"--set", "epochs=2", "--resume", "auto", "--overwrite"}));
  if (result.exit_code != 2) return "resume and overwrite do not contradict each other";
  result = run_program(job.request({"--set", "epochs=2", "--resume", "out/nowhere"}));
  if (result.exit_code != 7) return fmt::format("a checkpoint that is not there: {}", result.exit_code);
  return "";
}

int run_all(int kills, int signals, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Undisturbed whole = run_undisturbed();
  fmt::print("a job takes {:.0f} ms\n", whole.milliseconds);
  constexpr int kills_of_a_job = 5;
  for (int done = 0; done < kills; done += kills_of_a_job)
    try_kills(std::min(kills_of_a_job, kills - done), random, whole);
  // Steps over several batches, and a loss scale among the states.
  const int others = (kills + 2) / 3;
  try_kills(others, random,
            run_undisturbed({"--set", "accumulate=2", "--set", "precision=fp16", "--set", "epochs=20"}));
  fmt::print("{} kills\n", kills + others);
  for (int i = 0; i < signals; ++i) {
    constexpr int kinds[] = {SIGTERM, SIGINT, SIGHUP};
    const int signal = kinds[i % 3];
    const int after = static_cast<int>(random() % static_cast<std::uint64_t>(whole.milliseconds));
    report(fmt::format("signal {} after {} ms", signal, after), failing_signal(signal, after, whole));
  }
  fmt::print("{} signals\n", signals);
  report("SIGUSR1", failing_save_request(whole));
  report("the time limit", failing_time_limit(whole));
  report("refusals", failing_refusals());
  fmt::print("{} problems\n", problems);
  return problems == 0 ? 0 : 1;
}

}  // namespace
}  // namespace relish::testing

int main(int count, char** words) {
  int kills = 5, signals = 3;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = words[i], value = words[i + 1];
    if (option == "--kills") std::from_chars(value.data(), value.data() + value.size(), kills);
    if (option == "--signals") std::from_chars(value.data(), value.data() + value.size(), signals);
    if (option == "--seed") std::from_chars(value.data(), value.data() + value.size(), seed);
  }
  return relish::testing::run_all(kills, signals, seed);
}
