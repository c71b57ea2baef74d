// What a process begins with: closed streams, and little room.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/safety/program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

constexpr const char* job = R"script(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 1), "float32"), w: R.Tensor((1, 1), "float32")):
        return R.matmul(x, w)

t = train(M.main, data=(ones((8, 1)), ones((8, 1))), loss="mse", optimizer="sgd(lr=0.1)", batch_size=4, epochs=3)
print(t["status"])
)script";

Trial trial_in(const TemporaryFolder& folder) {
  folder.put("job.relish", job);
  Trial trial;
  trial.folder = folder.path();
  trial.arguments = {"run", "job.relish", "--run-dir", "run", "--tier", "interp"};
  return trial;
}

// Files of the run folder that hold numbers of steps alone, not times.
std::vector<std::string> lasting_bytes(const TemporaryFolder& folder) {
  return {bytes_of(folder.file("run/final.safetensors")), bytes_of(folder.file("run/script.relish"))};
}

}  // namespace

TEST_CASE("what is printed never gets into a file, whichever streams are closed") {
  const TemporaryFolder whole;
  REQUIRE(run_trial(trial_in(whole)).exit_code == 0);
  const std::vector<std::string> wanted = lasting_bytes(whole);
  REQUIRE(!wanted[0].empty());
  for (const std::vector<int>& closed : {std::vector{0}, std::vector{1}, std::vector{2}, std::vector{0, 1},
                                         std::vector{0, 2}, std::vector{1, 2}, std::vector{0, 1, 2}}) {
    const TemporaryFolder folder;
    Trial trial = trial_in(folder);
    trial.closed = closed;
    const TrialResult result = run_trial(trial);
    const bool prints = closed != std::vector{1} && closed != std::vector{0, 1} &&
                        closed != std::vector{1, 2} && closed != std::vector{0, 1, 2};
    // A closed standard output is told, as it is without the others.
    CHECK(result.exit_code == (prints ? 0 : 7));
    CHECK(result.signal == 0);
    const std::string metrics = bytes_of(folder.file("run/metrics.jsonl"));
    CHECK(metrics.starts_with("{"));
    CHECK(metrics.find("trains") == std::string::npos);
    CHECK(metrics.find("\nstep") == std::string::npos);
    CHECK(bytes_of(folder.file("run/script.relish")) == wanted[1]);
    if (prints) CHECK(lasting_bytes(folder) == wanted);
  }
}

TEST_CASE("a process that may have little memory to write to is refused and never crashes") {
  // Below that the system itself cannot begin it.
  for (const std::int64_t mebibytes : {6,  8,  16, 32, 63, 64, 68, 72, 74,  75,  76,  77,  78,
                                       79, 80, 84, 88, 92, 95, 96, 97, 100, 104, 128, 256, 511}) {
    const TemporaryFolder folder;
    Trial trial = trial_in(folder);
    trial.arguments = {"run", "job.relish", "--run-dir", "run"};
    trial.data_bytes = mebibytes << 20;
    const TrialResult result = run_trial(trial);
    INFO(mebibytes << " MiB: " << result.messages);
    CHECK(result.signal == 0);
    CHECK(result.exit_code == 6);
    CHECK(result.messages.find("ulimit -d") != std::string::npos);
  }
}

}  // namespace relish::testing
