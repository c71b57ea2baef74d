// The texts of the jobs, their folders, and the comparison.
#include "tests/jobs/trials.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/failure.h"
#include "train/checkpoint.h"

namespace relish::testing {
namespace {

namespace fs = std::filesystem;

int problems = 0;

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

}  // namespace

const std::string_view whole_job = R"job(@I.ir_module
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
          validation=(x, y), metrics=["accuracy", "perplexity", "top_k(k=2)"], epochs=arg("epochs", 60), batch_size=32, log_every=7,
          average=0.98, early_stopping=f"accuracy(patience={arg('patience', 1000)}, min_delta={arg('least', 0.0)})",
          groups={"b*": {"lr": 0.002}}, clip_norm=1.0, prepare=Net.shaken, precision=arg("precision", "bf16"),
          accumulate=arg("accumulate", 1))
print(t["status"], t["steps"])
)job";

const std::string_view small_job = R"job(width = arg("width", 24)
@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor(("n", 16), "float32"), w0: R.Tensor((16, width), "float32"), b0: R.Tensor((width,), "float32"),
             w1: R.Tensor((width, 4), "float32")):
        h = R.nn.dropout(R.nn.relu(R.add(R.matmul(x, w0), b0)), 0.2)
        return R.matmul(h[0], w1)

x = rand((256, 16), seed=1)
y = R.argmax(rand((256, 4), seed=2), axis=1)
t = train(Net.main, data=(x, y), loss="cross_entropy", optimizer=arg("optimizer", "adam(lr=0.01)"), validation=(x, y),
          metrics=["accuracy"], epochs=arg("epochs", 25), batch_size=32, log_every=7)
print(t["status"], t["steps"])
)job";

int problems_found() { return problems; }

void report(const std::string& what, const std::string& problem) {
  if (problem.empty()) return;
  ++problems;
  fmt::print("{}: {}\n", what, problem);
}

void skip(const std::string& what, const std::string& reason) {
  fmt::print("{}: skipped, {}\n", what, reason);
}

JobFolder::JobFolder(std::string_view text, std::vector<std::string> settings)
    : settings_(std::move(settings)) {
  folder_.put("job.relish", text);
}

ProcessRequest JobFolder::request(std::vector<std::string> more, int every) const {
  ProcessRequest request;
  request.folder = folder_.path();
  request.arguments = {"run",           "job.relish",         "--run-dir",          "out",
                       "--tensorboard", "--checkpoint-every", std::to_string(every)};
  request.arguments.insert(request.arguments.end(), settings_.begin(), settings_.end());
  request.arguments.insert(request.arguments.end(), more.begin(), more.end());
  request.limit_seconds = 120;
  return request;
}

ProcessRequest JobFolder::resumed(std::vector<std::string> more) const {
  more.insert(more.begin(), {"--resume", "auto"});
  return request(std::move(more));
}

ProcessRequest JobFolder::disturbed(const std::string& plan, std::vector<std::string> more) const {
  ProcessRequest disturbed = request(std::move(more));
  std::error_code none;
  fs::remove(beside("marks"), none);
  disturbed.variables = {"LD_PRELOAD=" RELISH_DISTURBANCE_LIBRARY,
                         fmt::format("RELISH_DISTURBANCE=mark={} {}", beside("marks"), plan)};
  return disturbed;
}

JobFolder::Marks JobFolder::marks() const {
  std::istringstream lines(bytes_of(beside("marks")));
  Marks marks;
  for (double nanoseconds = 0; lines >> nanoseconds; ++marks.count) marks.last = nanoseconds / 1e9;
  return marks;
}

void JobFolder::clear() const {
  std::error_code none;
  fs::remove_all(folder_.file("out"), none);
}

std::int64_t JobFolder::newest_step() const {
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

std::string JobFolder::newest_checkpoint() const {
  return file(fmt::format("checkpoints/step-{:09}.safetensors", newest_step()));
}

bool can_disturb() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  // The system may refuse the library; then the mark of its first call is missing.
  static const bool can = [] {
    const JobFolder job(small_job);
    ProcessRequest request = job.disturbed("call=open file=job.relish action=none");
    request.arguments = {"check", "job.relish"};
    run_program(request);
    return job.marks().count > 0;
  }();
  return can;
#endif
}

std::vector<std::int64_t> steps_in_metrics(const JobFolder& job) {
  std::istringstream text(bytes_of(job.file("metrics.jsonl")));
  std::vector<std::int64_t> steps;
  for (std::string line; std::getline(text, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    steps.push_back(json.is_object() ? json.value("step", std::int64_t{-1}) : -1);
  }
  return steps;
}

Undisturbed run_undisturbed(std::string_view text, const std::vector<std::string>& settings) {
  const JobFolder job(text, settings);
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_program(job.request());
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (result.exit_code != 0) report("the undisturbed job", result.error_output);
  return {settings, bytes_of(job.file("final.safetensors")), steps_in_metrics(job), time.count()};
}

int unfinished_files(const JobFolder& job) {
  int count = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(job.file(""), error))
    count += entry.path().extension() == ".tmp" ? 1 : 0;
  return count;
}

std::string compare_with(const JobFolder& job, const Undisturbed& whole, int left) {
  if (whole.weights.empty() || bytes_of(job.file("final.safetensors")) != whole.weights)
    return "the final weights differ";
  if (steps_in_metrics(job) != whole.steps) return "the steps in metrics.jsonl differ";
  // One for each step, behind that of the version.
  if (records_of_events(bytes_of(job.file("events.out.tfevents.relish"))) != whole.steps.size() + 1)
    return "the steps in the events differ";
  if (!bytes_of(job.file("report.md")).starts_with("# job.relish: finished")) return "the page is another";
  if (const int found = unfinished_files(job); found > left) return fmt::format("left {} .tmp files", found);
  return "";
}

std::string ending_of(const ProcessResult& result) {
  if (result.timed_out) return "did not end: " + result.error_output;
  if (result.killed_by_signal) return fmt::format("died by signal {}", result.exit_code - 128);
  return fmt::format("exit code {}: {}", result.exit_code, result.error_output);
}

std::string rest_of(const JobFolder& job, const Undisturbed& whole) {
  const ProcessResult rest = run_program(job.resumed());
  return rest.exit_code != 0 ? "cannot go on: " + ending_of(rest) : compare_with(job, whole);
}

std::string fault_of_newest_checkpoint(const JobFolder& job) {
  if (job.newest_step() == 0) return "there is no checkpoint";
  try {
    for (const auto& [name, tensor] : read_checkpoint(job.newest_checkpoint()).tensors) {
      if (!is_float(tensor.dtype())) continue;
      for (std::int64_t i = 0; i < tensor.size(); ++i)
        if (!std::isfinite(tensor.get_double(i)))
          return fmt::format("element {} of {} is not finite", i, name);
    }
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace relish::testing
