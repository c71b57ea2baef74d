// A sweep that is killed: its jobs end with it, and the same line goes on to what an undisturbed one leaves.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "tests/safety/program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

const char* const swept_script =
    "@R.function\n"
    "def main(x: R.Tensor((\"n\", 8), \"float32\"), w: R.Tensor((8, 1), \"float32\")):\n"
    "    return R.matmul(R.nn.dropout(x, 0.1)[0], w)\n"
    "x = rand((640, 8), \"float32\", seed=1)\n"
    "t = train(main, data=(x, R.sum(x, axis=1, keepdims=True)), loss=\"mse\",\n"
    "          optimizer=f\"adam(lr={arg('lr', 0.1)})\", epochs=200, batch_size=8)\n";

bool is_locked(const std::string& path) {
  const int lock = ::open(path.c_str(), O_RDONLY);
  if (lock < 0) return false;
  const bool held = ::flock(lock, LOCK_SH | LOCK_NB) != 0;
  ::close(lock);
  return held;
}

TEST_CASE("a sweep that is killed goes on, and leaves what an undisturbed one leaves") {
  const TemporaryFolder folder;
  folder.put("s.relish", swept_script);
  Trial trial{{"sweep", "s.relish", "lr=0.01,0.02", "--jobs", "2", "--run-dir", "out", "--resume", "auto",
               "--checkpoint-every", "200", "--log-every", "200"},
              folder.path()};
  trial.kill_after_us = 1'000'000;
  run_trial(trial);
  // The jobs save and end, since the sweep is gone.
  const std::vector<std::string> jobs = {folder.file("out/lr=0.01"), folder.file("out/lr=0.02")};
  bool any = true;
  for (int i = 0; i < 200 && any; ++i) {
    any = is_locked(jobs[0] + "/lock") || is_locked(jobs[1] + "/lock");
    if (any) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK_FALSE(any);

  trial.kill_after_us = -1;
  const TrialResult went_on = run_trial(trial);
  INFO(went_on.messages);
  CHECK(went_on.exit_code == 0);
  const TrialResult again = run_trial(trial);
  INFO(again.messages);
  CHECK(again.exit_code == 0);
  CHECK(again.messages.find("lr=0.01: was done\nlr=0.02: was done\n") != std::string::npos);
  CHECK(bytes_of(folder.file("out/results.md")).find("lr=0.02  finished") != std::string::npos);
  CHECK(run_trial({{"run", "s.relish", "--set", "lr=0.02", "--run-dir", "alone"}, folder.path()}).exit_code ==
        0);
  CHECK(bytes_of(jobs[1] + "/final.safetensors") == bytes_of(folder.file("alone/final.safetensors")));
  std::istringstream lines(bytes_of(jobs[1] + "/metrics.jsonl"));
  std::set<std::string> steps;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) steps.insert(line.substr(0, line.find(',')));
  CHECK(steps.size() == count);

  // Another script, and no leave to go on, are refused; what stands there stays.
  folder.put("other.relish", swept_script);
  const TrialResult other =
      run_trial({{"sweep", "other.relish", "lr=1", "--run-dir", "out", "--resume", "auto"}, folder.path()});
  CHECK(other.exit_code == 2);
  CHECK(other.messages.find("[sweep.run_dir]") != std::string::npos);
  CHECK(run_trial({{"sweep", "s.relish", "lr=1", "--run-dir", "out"}, folder.path()}).exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.file("out/lr=1")));
}

TEST_CASE("a sweep goes on with other options as its jobs do, and reads its script from a file") {
  const TemporaryFolder folder;
  folder.put(
      "s.relish",
      "lr = arg(\"lr\", 0.1)\nepochs = arg(\"epochs\", 1)\nwidth = arg(\"width\", 2)\n"
      "@I.ir_module\nclass M:\n    @R.function\n"
      "    def main(x: R.Tensor((\"n\", 2), \"float32\"), w: R.Tensor((2, width), \"float32\")):\n"
      "        return R.matmul(x, w)\n"
      "t = train(M.main, data=(ones((8, 2)), ones((8, width))), loss=\"mse\", optimizer=f\"sgd(lr={lr})\",\n"
      "          epochs=epochs, batch_size=4)\n");
  const auto sweep = [&](std::vector<std::string> more) {
    Trial trial{{"sweep", "s.relish", "lr=0.1,0.2", "--run-dir", "out", "--tier", "interp"}, folder.path()};
    trial.arguments.insert(trial.arguments.end(), more.begin(), more.end());
    return run_trial(trial);
  };
  CHECK(sweep({"--set", "epochs=1"}).exit_code == 0);
  const TrialResult same = sweep({"--set", "epochs=1", "--resume", "auto"});
  CHECK(same.messages.find("lr=0.1: was done\nlr=0.2: was done\n") != std::string::npos);
  // More epochs are trained; another model is refused, as by the line of the job itself.
  const TrialResult more = sweep({"--set", "epochs=3", "--resume", "auto"});
  CHECK(more.exit_code == 0);
  CHECK(more.messages.find("was done") == std::string::npos);
  CHECK(more.messages.find("lr=0.1: finished, step 6") != std::string::npos);
  const TrialResult other = sweep({"--set", "epochs=3", "--set", "width=3", "--resume", "auto"});
  CHECK(other.exit_code == 9);
  CHECK(other.messages.find("setting width is 3, the checkpoint has 2") != std::string::npos);
  const TrialResult seed = sweep({"--set", "epochs=3", "--seed", "5", "--resume", "auto"});
  CHECK(seed.exit_code == 9);
  CHECK(seed.messages.find("option seed is 5") != std::string::npos);
  // What is done stays done.
  const TrialResult back = sweep({"--set", "epochs=3", "--resume", "auto"});
  CHECK(back.messages.find("lr=0.1: was done\nlr=0.2: was done\n") != std::string::npos);

  const TrialResult piped = run_trial({{"sweep", "-", "lr=0.1,0.2", "--run-dir", "none"}, folder.path()});
  CHECK(piped.exit_code == 2);
  CHECK(piped.messages.find("expected a file") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.file("none")));
}

}  // namespace
}  // namespace relish::testing
