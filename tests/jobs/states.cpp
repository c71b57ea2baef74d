// Checkpoints that are damaged or of another program, numbers that are not finite, and the same job in both
// tiers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/files.h"
#include "support/failure.h"
#include "tests/jobs/trials.h"
#include "train/checkpoint.h"

namespace relish::testing {
namespace {

bool is_refused(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  try {
    read_checkpoint(path);
  } catch (const Failure& failure) {
    return failure.error_class() == ErrorClass::Checkpoint;
  }
  return false;
}

// The newest checkpoint is damaged: by itself the job takes the one before it and says so; one that is named
// is refused.
std::string failing_damage(const JobFolder& job, const std::string& bytes, const Undisturbed& whole) {
  const std::string path = job.newest_checkpoint();
  const std::int64_t step = job.newest_step();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  const ProcessResult named = run_program(job.request({"--resume", path}));
  if (named.exit_code != 9) return "named: " + ending_of(named);
  if (named.error_output.find("error[CheckpointError]: ") == std::string::npos)
    return "named: no reason is told: " + named.error_output;
  const ProcessResult result = run_program(job.resumed());
  if (result.exit_code != 0) return ending_of(result);
  if (result.error_output.find("warning: out/checkpoints/") == std::string::npos)
    return "no warning: " + result.error_output;
  if (result.error_output.find(fmt::format("goes on behind step {} of", step - 20)) == std::string::npos)
    return "it did not take the one before: " + result.error_output;
  return compare_with(job, whole);
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  const std::size_t at = text.find(part);
  RELISH_CHECK(at != std::string::npos, std::string(part));
  return text.replace(at, part.size(), by);
}

// A job in which something stops being finite in step `step`.
struct NotFinite {
  std::string name;
  std::string text;
  std::int64_t step = 0;  // 0: the one that the order of the rows makes it
  std::string told;       // a part of the message, which names the first tensor
};

NotFinite row_of_nan(std::int64_t row) {
  return {fmt::format("row {} has a NaN", row),
          fmt::format(R"job(@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 1), "float32")):
    return R.matmul(x, w)

x = rand((200, 4), seed=1)
x[{}, 2] = 0.0 / tensor(0.0)
train(main, data=(x, ones((200, 1))), loss="mse", optimizer="adam(lr=0.01)", batch_size=1, log_every=1)
)job",
                      row),
          0, fmt::format("the first tensor that is not finite is the input 'x', row {} of the data", row)};
}

NotFinite rate_that_is_too_large(std::int64_t step) {
  return {fmt::format("the rate is 1e30 from step {} on", step),
          fmt::format(R"job(@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 1), "float32")):
    return R.matmul(x, w)

x = rand((64, 4), seed=1)
train(main, data=(x, ones((64, 1))), loss="mse", optimizer="sgd(lr=0.01)", schedule="step(step_size={}, gamma=1e32)",
      batch_size=4, epochs=50, log_every=1)
)job",
                      step - 1),
          step, "not finite"};
}

// A weight that loses a 64th in each step, until it is 0.
NotFinite log_of_zero(std::int64_t step) {
  return {fmt::format("a log of 0 in step {}", step),
          fmt::format(R"job(@R.function
def main(x: R.Tensor(("n", 1), "float32"), w: R.Tensor((1,), "float32")):
    root = R.log(w)
    return R.sum(w) + R.sum(root) * R.const(0.0, "float32") + R.sum(x) * R.const(0.0, "float32")

train(main, data={{"x": ones((64, 1))}}, optimizer="sgd(lr=0.015625)", params={{"w": full((1,), {})}}, batch_size=4, epochs=50,
      log_every=1)
)job",
                      static_cast<double>(step - 1) / 64),
          step, "the first tensor that is not finite is 'root'"};
}

std::string failing_not_finite(const NotFinite& fault) {
  const JobFolder job(fault.text);
  const ProcessResult result = run_program(job.request({}, 7));
  if (result.exit_code != 8) return ending_of(result);
  const std::size_t at = result.error_output.find("error[NumericStop]: step ");
  if (at == std::string::npos || result.error_output.find(fault.told) == std::string::npos)
    return "the step or the tensor is not named: " + result.error_output;
  const std::int64_t step =
      std::atoll(result.error_output.c_str() + at + std::strlen("error[NumericStop]: step "));
  if (fault.step != 0 && step != fault.step && step != fault.step + 1)
    return fmt::format("it stopped in step {}: {}", step, result.error_output);
  if (job.newest_step() != step - 1)
    return fmt::format("the newest checkpoint is of step {}", job.newest_step());
  const auto report_json = nlohmann::json::parse(bytes_of(job.file("report.json")), nullptr, false);
  if (report_json.value("status", "") != "numeric_stop")
    return "report.json says " + report_json.value("status", "");
  return fault_of_newest_checkpoint(job);
}

const std::string_view tier_job = R"job(@R.function
def main(x: R.Tensor(("n", 16), "float32"), w0: R.Tensor((16, 24), "float32"), gamma: R.Tensor((24,), "float32"),
         beta: R.Tensor((24,), "float32"), mean: R.Tensor((24,), "float32"), variance: R.Tensor((24,), "float32"),
         w1: R.Tensor((24, 4), "float32")):
    normed = R.nn.batch_norm(R.matmul(x, w0), gamma, beta, mean, variance, axis=1)
    h = R.nn.dropout(R.nn.relu(normed[0]), 0.2)
    return R.matmul(h[0], w1)

x = rand((320, 16), "float32", seed=1)
y = R.argmax(rand((320, 4), seed=2), axis=1)
train(main, data=(x, y), loss="cross_entropy", optimizer="adam(lr=0.001)", schedule="cosine(warmup=5)", clip_norm=1.0,
      accumulate=2, average=0.9, steps=100, batch_size=16, log_every=1)
)job";

std::vector<double> losses_of(const JobFolder& job) {
  std::istringstream lines(bytes_of(job.file("metrics.jsonl")));
  std::vector<double> losses;
  for (std::string line; std::getline(lines, line);)
    losses.push_back(nlohmann::json::parse(line).value("loss", 0.0));
  return losses;
}

// The largest difference of two tensors' elements beside the largest of the second's.
double distance_of_weights(const JobFolder& job, const JobFolder& other) {
  const NamedTensors first = read_safetensors(job.file("final.safetensors")),
                     second = read_safetensors(other.file("final.safetensors"));
  double most = first.empty() || first.size() != second.size() ? HUGE_VAL : 0;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    double apart = 0, size = 0;
    for (std::int64_t k = 0; k < first[i].second.size(); ++k) {
      const double a = first[i].second.get_double(k), b = second[i].second.get_double(k);
      apart = std::max(apart, std::abs(a - b));
      size = std::max(size, std::abs(b));
    }
    most = std::max(most, size > 0 ? apart / size : apart);
  }
  return most;
}

double distance_of_losses(const JobFolder& job, const JobFolder& other) {
  constexpr std::size_t steps = 20;
  const std::vector<double> first = losses_of(job), second = losses_of(other);
  if (std::min(first.size(), second.size()) < steps) return HUGE_VAL;
  double most = 0;
  for (std::size_t i = 0; i < steps; ++i) most = std::max(most, std::abs(first[i] / second[i] - 1));
  return most;
}

// A job that is done is not touched without leave, and one with a schedule has its length.
std::string failing_leave() {
  const JobFolder job(whole_job);
  if (run_program(job.request({"--set", "epochs=2"})).exit_code != 0) return "a short job fails";
  const std::string weights = bytes_of(job.file("final.safetensors"));
  const std::tuple<std::vector<std::string>, int, const char*> refusals[] = {
      {{"--set", "epochs=2"}, 2, "run_dir: out holds the weights "},
      {{"--set", "epochs=3", "--resume", "auto"}, 9, "option steps is 96, the checkpoint has 64"},
      {{"--set", "epochs=2", "--resume", "auto", "--overwrite"}, 2, "contradict each other"},
      {{"--set", "epochs=2", "--resume", "out/nowhere"}, 7, "there is no such checkpoint or run folder"},
  };
  for (const auto& [more, code, told] : refusals) {
    const ProcessResult result = run_program(job.request(more));
    if (result.exit_code != code || result.error_output.find(told) == std::string::npos)
      return ending_of(result);
    if (bytes_of(job.file("final.safetensors")) != weights) return "a refused job changed the weights";
  }
  return "";
}

}  // namespace

void try_damaged_checkpoints(const RowOptions& options) {
  const Undisturbed whole = run_undisturbed(small_job);
  const JobFolder job(small_job);
  run_program(job.request());
  const std::string bytes = bytes_of(job.newest_checkpoint());
  const std::string copy = job.beside("copy.safetensors");
  report("a checkpoint", bytes.empty() || is_refused(copy, bytes) ? "the whole one is refused" : "");
  std::mt19937_64 random(options.seed + 10);
  constexpr std::size_t parts = 64;
  const int bits = options.full ? 1000 : 100;
  for (std::size_t part = 0; part < parts; ++part) {
    if (!is_refused(copy, bytes.substr(0, bytes.size() * part / parts)))
      report("a checkpoint that is cut", fmt::format("{} of {} parts are taken", part, parts));
  }
  for (int i = 0; i < bits; ++i) {
    std::string changed = bytes;
    const std::size_t at = random() % bytes.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << (random() % 8)));
    if (!is_refused(copy, changed))
      report("a bit of a checkpoint", fmt::format("that of byte {} does not count", at));
  }
  report("zeros", is_refused(copy, std::string(bytes.size(), '\0')) ? "" : "are taken");
  // In a job that stopped behind a later step.
  const std::pair<const char*, std::string> damages[] = {
      {"cut", bytes.substr(0, bytes.size() / 2)},
      {"empty", ""},
      {"zeros", std::string(bytes.size(), '\0')},
      {"without its manifest", replaced(bytes, "\"relish\"", "\"relisi\"")}};
  for (const auto& [name, damaged] : damages)
    report(fmt::format("the newest checkpoint is {}", name), failing_damage(job, damaged, whole));
  fmt::print("{} damaged checkpoints\n", parts + static_cast<std::size_t>(bits) + 1 + std::size(damages));
}

void try_other_programs(const RowOptions&) {
  report("a job without leave", failing_leave());
  const JobFolder job(small_job);
  run_program(job.request());
  const std::string weights = bytes_of(job.file("final.safetensors"));
  const std::string checkpoint = bytes_of(job.newest_checkpoint());
  const auto refused = [&](const std::string& what, const std::vector<std::string>& more,
                           std::string_view told) {
    const ProcessResult result = run_program(job.resumed(more));
    std::string fault;
    if (result.exit_code != 9)
      fault = ending_of(result);
    else if (result.error_output.find(told) == std::string::npos)
      fault = "does not say what differs: " + result.error_output;
    else if (bytes_of(job.file("final.safetensors")) != weights ||
             bytes_of(job.newest_checkpoint()) != checkpoint)
      fault = "what stood there has changed";
    report(what, fault);
  };
  refused("other shapes", {"--set", "width=25"}, "setting width is 25, the checkpoint has 24");
  refused("another optimizer", {"--set", "optimizer=momentum(lr=0.01, momentum=0.9)"}, "optimizer");
  refused("another learning rate", {"--set", "optimizer=adam(lr=0.02)"},
          "option lr is 0.02, the checkpoint has 0.01");
  refused("fewer steps", {"--set", "epochs=5"}, "the checkpoint is of step 200; the job has 40");
  std::ofstream(job.beside("job.relish")) << replaced(std::string(small_job), "R.nn.relu", "R.tanh");
  refused("another program", {}, "the function main");
  std::ofstream(job.beside("job.relish")) << replaced(std::string(small_job), "seed=1", "seed=3");
  refused("other data", {}, "option data is ");
}

void try_numbers_not_finite(const RowOptions& options) {
  for (int i = 0; i < options.times; ++i) {
    for (const NotFinite& fault :
         {row_of_nan(20 + 60 * i), rate_that_is_too_large(10 + 17 * i), log_of_zero(12 + 19 * i)})
      report(fault.name, failing_not_finite(fault));
  }
  fmt::print("{} numbers that are not finite\n", 3 * options.times);
}

void try_tiers(const RowOptions&) {
  for (const bool wide : {false, true}) {
    std::string text(tier_job);
    if (wide)
      for (std::size_t at = 0; (at = text.find("float32", at)) != text.npos;) text.replace(at, 7, "float64");
    const JobFolder compiled(text), interpreted(text);
    for (const auto& [job, tier] : {std::pair(&compiled, "jit"), std::pair(&interpreted, "interp")}) {
      const ProcessResult result = run_program(job->request({"--tier", tier}));
      if (result.exit_code != 0) report(tier, ending_of(result));
    }
    // Class 9 of the agreement of tiers.
    constexpr double most_of_weights[] = {1e-3, 1e-9}, most_of_losses[] = {1e-4, 1e-9};
    const double weights = distance_of_weights(compiled, interpreted),
                 losses = distance_of_losses(compiled, interpreted);
    const char* dtype = wide ? "float64" : "float32";
    fmt::print("100 steps in {}: weights differ by {:.1e}, the first 20 losses by {:.1e}\n", dtype, weights,
               losses);
    report(dtype,
           weights <= most_of_weights[wide] && losses <= most_of_losses[wide] ? "" : "the tiers disagree");
  }
}

}  // namespace relish::testing
