// Run folders of jobs that are refused, and with names of all kinds.
#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/safety/program.h"
#include "tests/unit/temporary_folder.h"

namespace relish::testing {
namespace {

constexpr const char* small_job = R"script(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 1), "float32"), w: R.Tensor((1, 1), "float32")):
        return R.matmul(x, w)

t = train(M.main, data=(ones((8, 1)), ones((8, 1))), loss="mse", optimizer="sgd(lr=0.1)", batch_size=4, epochs=3)
print(t["status"])
)script";

Trial job_in(const TemporaryFolder& folder) {
  folder.put("job.relish", small_job);
  Trial trial;
  trial.folder = folder.path();
  trial.arguments = {"run", "job.relish", "--run-dir", "run", "--tier", "interp"};
  return trial;
}

}  // namespace

TEST_CASE(
    "a job whose checkpoint is refused leaves no folder, so that the newest of the script stays the newest") {
  const TemporaryFolder folder;
  Trial trial = job_in(folder);
  trial.arguments = {"run", "job.relish", "--tier", "interp"};
  REQUIRE(run_trial(trial).exit_code == 0);
  const std::filesystem::path first = folder.file("runs/job-1");
  std::filesystem::copy(first / "checkpoints/step-000000006.safetensors", folder.file("c.safetensors"));
  folder.put("words.txt", "hello");
  for (const char* checkpoint : {"words.txt", "c.safetensors"}) {
    trial.arguments = {"run", "job.relish", "--tier", "interp", "--resume", checkpoint, "--seed", "7"};
    CHECK(run_trial(trial).exit_code == 9);
    trial.arguments.insert(trial.arguments.end(), {"--run-dir", "other"});
    CHECK(run_trial(trial).exit_code == 9);
    CHECK_FALSE(std::filesystem::exists(folder.file("runs/job-2")));
    CHECK_FALSE(std::filesystem::exists(folder.file("other")));
  }
  trial.arguments = {"run", "job.relish", "--tier", "interp", "--resume", "auto"};
  CHECK(run_trial(trial).messages.find("goes on behind step 6 of 6, from runs/job-1/") != std::string::npos);
  // A whole one of the same job is gone on from, in a folder of its own.
  trial.arguments = {"run", "job.relish", "--tier", "interp", "--resume", "c.safetensors"};
  CHECK(run_trial(trial).exit_code == 0);
  CHECK(bytes_of(folder.file("runs/job-2/final.safetensors")) ==
        bytes_of((first / "final.safetensors").string()));
}

TEST_CASE(
    "the folder of the command line is that of the first job alone, whatever folders the script names") {
  const TemporaryFolder folder;
  Trial trial = job_in(folder);
  const std::string text = bytes_of(folder.file("job.relish"));
  const std::size_t call = text.find("t = train("), end = text.find(")\n", call);
  const auto with = [&](const std::string& name, const std::string& where, int seed) {
    return name + text.substr(call + 1, end - call - 1) + ", seed=" + std::to_string(seed) + where + ")\n";
  };
  folder.put("job.relish", text.substr(0, call) + with("a", ", run_dir=\"a\"", 1) +
                               with("b", ", run_dir=\"b\"", 2) + with("c", ", run_dir=None", 3) +
                               with("d", "", 4) +
                               "print(a[\"run_dir\"], b[\"run_dir\"], c[\"run_dir\"], d[\"run_dir\"])\n");
  const auto folders = [&](const std::vector<std::string>& more) {
    trial.arguments = {"run", "job.relish", "--tier", "interp", "--log-every", "0"};
    trial.arguments.insert(trial.arguments.end(), more.begin(), more.end());
    const TrialResult result = run_trial(trial);
    INFO(result.messages);
    CHECK(result.exit_code == 0);
    const std::string told = result.messages.substr(0, result.messages.size() - 1);
    return told.substr(told.rfind('\n') + 1);
  };
  CHECK(folders({}) == "a b None a/job-4");
  CHECK(folders({"--run-dir", "all"}) == "all all/job-2 all/job-3 all/job-4");
  CHECK(bytes_of(folder.file("all/job-2/final.safetensors")) == bytes_of(folder.file("b/final.safetensors")));
  CHECK(bytes_of(folder.file("all/final.safetensors")) == bytes_of(folder.file("a/final.safetensors")));
  CHECK(folders({"--run-dir", "all", "--resume", "auto"}) == "all all/job-2 all/job-3 all/job-4");
  CHECK(folders({"--resume", "a/checkpoints/step-000000006.safetensors"}) == "a b None a/job-4");
  CHECK(folders({"--resume", "auto"}) == "a b None a/job-4");
}

TEST_CASE(
    "names of folders are told so that a terminal obeys none of them, and files that are none of a job stay") {
  const TemporaryFolder folder;
  Trial trial = job_in(folder);
  trial.arguments[3] = "a\n\x1b[31m";
  trial.arguments.insert(trial.arguments.end(), {"--resume", "auto"});
  for (int round = 0; round < 2; ++round) {
    const TrialResult result = run_trial(trial);
    CHECK(result.exit_code == 0);
    CHECK(result.messages.find('\x1b') == std::string::npos);
    CHECK(result.messages.find("saved in a\\n\\x1b[31m") != std::string::npos);
  }
  std::filesystem::create_directory(folder.file("mine"));
  folder.put("mine/lock", "the key is under the mat\n");
  trial.arguments[3] = "mine";
  for (const char* leave : {"--resume", "--overwrite"}) {
    trial.arguments.resize(6);
    trial.arguments.push_back(leave);
    if (leave == std::string("--resume")) trial.arguments.push_back("auto");
    const TrialResult result = run_trial(trial);
    CHECK(result.exit_code == 2);
    CHECK(result.messages.find("mine/lock is a file that no job wrote") != std::string::npos);
    CHECK(bytes_of(folder.file("mine/lock")) == "the key is under the mat\n");
  }
}

}  // namespace relish::testing
