// job_measures [overhead|memory|checkpoint|log]…: what a training job may cost, measured on the program as a
// process: the time of its loop against that of the compiled steps, memory over many steps, how long a large
// checkpoint holds the steps up, and the size of the log of a million steps.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/file_access.h"
#include "tests/golden/process.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

int problems_found = 0;

void require(bool holds, const std::string& what) {
  fmt::print("{}{}\n", holds ? "" : "PROBLEM: ", what);
  if (!holds) ++problems_found;
}

// A perceptron of a classifier, batches of 64 rows; its step by `time`, and jobs of two lengths, whose
// difference holds neither compiling nor the beginning. One after the other several times, since the machine
// has other things to do, and is quicker in one second than in the next: of what each takes in relation to
// its neighbours the middle counts; of a step alone the mean of many, since a job is as long as all its steps
// together, with those that were disturbed. All begin with weights as a job has them: of others the logits
// lie so far apart that gradients are denormal numbers, whose products take 1.5 to 4.5 times as long.
constexpr const char* overhead_text = R"job(@I.ir_module
class Classifier:
    @R.function
    def main(x: R.Tensor((64, 784), "float32"), w0: R.Tensor((784, 128), "float32"), b0: R.Tensor((128,), "float32"),
             w1: R.Tensor((128, 10), "float32"), b1: R.Tensor((10,), "float32")):
        hidden = R.nn.relu(R.add(R.matmul(x, w0), b0))
        return R.add(R.matmul(hidden, w1), b1)

optimizer = arg("optimizer", "sgd(lr=0.1)")
S = setup_trainer(Classifier.main, loss="cross_entropy", optimizer=optimizer)
rows = 12800
x = rand((rows, 784), seed=1)
y = R.argmax(rand((rows, 10), seed=2), axis=1)
start = ((rand((784, 128), seed=0) - 0.5) * 0.1, zeros((128,)), (rand((128, 10), seed=2) - 0.5) * 0.2, zeros((10,)))
first = S.optimizer_init(start)
one = {"lr": 0.000001, "x": x[:64], "targets": y[:64]}
whole = {"lr": 0.000001, "x": x, "targets": y}
whole["order"] = R.reshape(R.argsort(rand((rows,), seed=3)), (rows // 64, 64)).astype("int64")
carry = []
for i in range(len(start)):
    one[f"params.{i}"] = start[i]
    whole[f"params.{i}"] = start[i]
    carry = carry + [f"out.1.{i}=params.{i}"]
for i in range(len(first)):
    one[f"states.{i}"] = first[i]
    whole[f"states.{i}"] = first[i]
    carry = carry + [f"out.2.{i}=states.{i}"]

def seconds(steps):
    t = train(Classifier.main, data=(x, y), loss="cross_entropy", optimizer=optimizer, steps=steps,
              metrics=["accuracy", "loss"], log_every=100, run_dir=f"job-{steps}", overwrite=True)
    return t["seconds"]

a = seconds(200)
for i in range(15):
    step = time(S.train_step, arg=one, carry=carry, runs=1000)["mean_ms"]
    epoch = time(S.train_epoch, arg=whole, carry=carry, runs=3)["median_ms"] / (rows // 64)
    short = seconds(200)
    print(f"measured {step} {epoch} {(seconds(1200) - short) / 1000 * 1000}")
)job";

template <class Of>
double middle(const std::vector<std::array<double, 3>>& found, const Of& of) {
  std::vector<double> values;
  for (const auto& each : found) values.push_back(of(each));
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

// The step that is timed alone has its batch in the caches; that of a job comes from memory, as in
// train_epoch over the same rows: what is beyond the one is the way of the rows and the loop, what is beyond
// the other the loop alone.
void measure_overhead() {
  constexpr double most = 1.05;
  for (const char* optimizer : {"sgd(lr=0.1)", "adam(lr=0.001)"}) {
    TemporaryFolder folder;
    folder.put("job.relish", overhead_text);
    ProcessRequest request;
    request.folder = folder.path();
    request.arguments = {"run", "job.relish", "--set", fmt::format("optimizer={}", optimizer)};
    request.limit_seconds = 300;
    const ProcessResult result = run_program(request);
    std::vector<std::array<double, 3>> found;  // ms a step: alone, in train_epoch, in train
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("measured ")) continue;
      std::istringstream numbers(line.substr(9));
      numbers >> found.emplace_back()[0] >> found.back()[1] >> found.back()[2];
    }
    if (result.exit_code != 0 || found.empty()) {
      require(false, "overhead: " + result.error_output);
      continue;
    }
    const auto compare = [&](std::string_view name, std::size_t with) {
      const double alone = middle(found, [&](const auto& each) { return each[with]; });
      const double loop = middle(found, [](const auto& each) { return each[2]; });
      const double ratio = middle(found, [&](const auto& each) { return each[2] / each[with]; });
      require(ratio <= most,
              fmt::format("overhead, {}: {} {:.4f} ms a step, in train {:.4f} ms: {:.3f} (at most {})",
                          optimizer, name, alone, loop, ratio, most));
    };
    compare("train_step", 0);
    compare("train_epoch", 1);
  }
}

constexpr const char* small_text = R"job(@I.ir_module
class Small:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 8), "float32"), v: R.Tensor((8, 1), "float32")):
        return R.matmul(R.tanh(R.matmul(x, w)), v)

x = rand((1000, 4), seed=1)
y = R.sum(x, axis=1, keepdims=True)
t = train(Small.main, data=(x, y), loss="mse", optimizer="adam(lr=0.001)", steps=arg("steps", 100000), batch_size=8,
          validation=(x[:100], y[:100]), metrics=["mse"], grad_norm=True, checkpoint_every=arg("every", 20000), run_dir="out")
print(t["steps"])
)job";

// Bytes that a process holds; 0 when it is gone.
std::int64_t resident_bytes(int process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::int64_t all = 0, resident = 0;
  return file >> all >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

// Behind its beginning, which compiles, a job holds as much in the second half of its steps as in the first,
// within a hundredth. What the compiler has freed the allocator keeps for some seconds; here it gives that
// back at once.
void measure_memory() {
  constexpr double most = 1.01;
  TemporaryFolder folder;
  folder.put("job.relish", small_text);
  std::vector<std::int64_t> seen;
  ProcessRequest request;
  request.folder = folder.path();
  request.arguments = {"run", "job.relish", "--set", "steps=3000000", "--set", "every=10000000"};
  request.variables = {"MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0"};
  request.limit_seconds = 300;
  request.watch = [&](int process) {
    if (file_exists(folder.file("out/final.safetensors"))) return;  // then it reads its metrics for the page
    if (const std::int64_t bytes = resident_bytes(process)) seen.push_back(bytes);
  };
  const ProcessResult result = run_program(request);
  if (result.exit_code != 0 || seen.size() < 20) {
    require(false, fmt::format("memory: {} values, {}", seen.size(), result.error_output));
    return;
  }
  // Behind the start, which compiles.
  const auto tenth = static_cast<std::ptrdiff_t>(seen.size() / 10);
  const std::int64_t first = *std::max_element(seen.begin() + 2 * tenth, seen.begin() + 6 * tenth);
  const std::int64_t second = *std::max_element(seen.begin() + 6 * tenth, seen.end());
  const auto [least, greatest] = std::minmax(first, second);
  require(static_cast<double>(greatest) <= most * static_cast<double>(least),
          fmt::format("memory over two million steps: at most {:.2f} MiB in the first half, {:.2f} in the "
                      "second (at most 1 % apart)",
                      static_cast<double>(first) / (1 << 20), static_cast<double>(second) / (1 << 20)));
}

constexpr const char* large_text = R"job(@I.ir_module
class Large:
    @R.function
    def main(x: R.Tensor(("n", 5000), "float32"), w: R.Tensor((5000, 5000), "float32")):
        return R.matmul(x, w)

x = rand((80, 5000), seed=1)
y = rand((80, 5000), seed=2)
t = train(Large.main, data=(x, y), loss="mse", optimizer="sgd(lr=0.001)", steps=arg("steps", 90), batch_size=4,
          params={"w": zeros((5000, 5000))}, log_every=1, checkpoint_every=30, run_dir="out")
print(t["steps"])
)job";

// The longest of the steps behind a checkpoint against the middle one of all others.
void measure_checkpoint() {
  constexpr double most = 0.1;
  TemporaryFolder folder;
  folder.put("job.relish", large_text);
  ProcessRequest request;
  request.folder = folder.path();
  request.arguments = {"run", "job.relish"};
  request.limit_seconds = 300;
  const ProcessResult result = run_program(request);
  if (result.exit_code != 0) {
    require(false, "checkpoint: " + result.error_output);
    return;
  }
  std::istringstream lines(bytes_of(folder.file("out/metrics.jsonl")));
  std::vector<double> times;
  for (std::string line; std::getline(lines, line);)
    times.push_back(nlohmann::json::parse(line).at("wall_s").get<double>());
  std::vector<double> others, behind;
  for (std::size_t step = 10; step < times.size(); ++step) {  // counted from 0; the first compile
    const double spent = times[step] - times[step - 1];
    (step % 30 < 2 ? behind : others).push_back(spent);
  }
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2),
                   others.end());
  const double usual = others[others.size() / 2], longest = *std::max_element(behind.begin(), behind.end());
  require(
      longest - usual <= most,
      fmt::format("a checkpoint of 100 MB: a step takes {:.1f} ms, behind a checkpoint {:.1f} ms (at most "
                  "{:.0f} ms more)",
                  1000 * usual, 1000 * longest, 1000 * most));
}

void measure_log() {
  constexpr std::size_t most = 1'000'000;
  TemporaryFolder folder;
  folder.put("job.relish", small_text);
  ProcessRequest request;
  request.folder = folder.path();
  request.arguments = {"run", "job.relish", "--set", "steps=1000000"};
  request.limit_seconds = 600;
  const ProcessResult result = run_program(request);
  const std::size_t bytes = result.output.size() + result.error_output.size();
  require(result.exit_code == 0 && bytes <= most,
          fmt::format("the log of a million steps has {} bytes (at most {})", bytes, most));
}

int measure(const std::vector<std::string>& wanted) {
  const auto wants = [&](const std::string& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  if (wants("overhead")) measure_overhead();
  if (wants("memory")) measure_memory();
  if (wants("checkpoint")) measure_checkpoint();
  if (wants("log")) measure_log();
  return problems_found == 0 ? 0 : 1;
}

}  // namespace
}  // namespace relish::testing

int main(int count, char** words) { return relish::testing::measure({words + 1, words + count}); }
