// What a job leaves behind, and that two jobs never share a folder.
#include "train/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/train/linear_model.h"
#include "train/run_weights.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::TemporaryFolder;

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(bytes_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

Checkpoint checkpoint_of(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.state.step = step;
  checkpoint.state.optimizer_states = Value::tuple({});
  checkpoint.parameters = {{"w", Tensor::scalar(DType::Float32, 2)}};
  return checkpoint;
}

// The times at which a file was written, as the ends of epochs saw them; each gives the writer time.
class WatchedFile : public TrainingObserver {
 public:
  void on_epoch(const EpochReport&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    struct stat info = {};
    if (::stat(path.c_str(), &info) == 0) written.insert({info.st_mtim.tv_sec, info.st_mtim.tv_nsec});
  }
  std::string path;
  std::set<std::pair<time_t, long>> written;
};

TEST_CASE("quick epochs do not write the best weights each; the last of them are there in the end") {
  TemporaryFolder folder;
  testing::LinearEvaluator evaluator;
  TrainOptions options;
  options.epochs = 60;
  options.batch_size = 8;
  options.learning_rate = 0.001;
  options.checkpoint_every = {0, 3600};
  options.validation = testing::linear_data(5);
  RunRequest request;
  request.folder.directory = folder.file("run");
  WatchedFile best;
  best.path = folder.file("run/best.safetensors");
  const TrainResult result = train(evaluator, testing::linear_program(ScalarVar("n", DType::Int64)),
                                   testing::linear_data(20), options, &request, &best);
  CHECK(result.best_step == 180);  // each epoch was better than the one before it
  // The first, and one a second.
  CHECK(static_cast<double>(best.written.size()) <= 2 + result.seconds);
  CHECK(read_safetensors(best.path)[0].second.get_double(0) ==
        read_safetensors(folder.file("run/final.safetensors"))[0].second.get_double(0));
}

TEST_CASE("a whole job's folder") {
  TemporaryFolder folder;
  testing::LinearEvaluator evaluator;
  TrainOptions options;
  options.epochs = 2;
  options.batch_size = 8;
  options.log_every.steps = 2;
  options.validation = testing::linear_data(5);
  RunRequest request;
  request.folder.base = folder.file("runs");
  request.folder.script = "line fit";
  request.description.function = "Linear.main";
  request.description.optimizer = "sgd(lr=0.01)";
  request.description.settings = {{"epochs", "2"}, {"bytes", "\xff"}};
  request.script_text = "# relish: 1\n";
  auto run = [&] {
    return train(evaluator, testing::linear_program(ScalarVar("n", DType::Int64)), testing::linear_data(20),
                 options, &request);
  };
  TrainResult result = run();
  CHECK(result.run_folder == folder.file("runs") + "/line_fit-1");
  CHECK(bytes_of(result.run_folder + "/script.relish") == "# relish: 1\n");

  NamedTensors saved = read_safetensors(result.run_folder + "/final.safetensors");
  REQUIRE(saved.size() == 2);
  for (const auto& [name, tensor] : saved) {
    CHECK(identical(tensor, result.parameters[name == "w" ? 0 : 1].second));
  }

  std::vector<std::string> lines = lines_of(result.run_folder + "/metrics.jsonl");
  REQUIRE(lines.size() == 5);
  std::vector<std::int64_t> steps;
  for (const std::string& line : lines) {
    auto json = nlohmann::json::parse(line);
    steps.push_back(json["step"]);
    for (const char* key : {"epoch", "loss", "lr", "wall_s"}) CHECK(json[key].is_number());
    // The first step of a process is compiled in its time, and has no pace.
    CHECK(json.contains("samples_per_s") == (steps.back() > 1));
    CHECK(json.contains("epoch_loss") == (steps.back() % 3 == 0));
    CHECK(json.contains("validation_loss") == (steps.back() % 3 == 0));
  }
  CHECK(steps == std::vector<std::int64_t>{1, 2, 3, 4, 6});
  CHECK(nlohmann::json::parse(lines.back())["validation_loss"] == result.validation.at("loss"));

  std::vector<std::string> table = lines_of(result.run_folder + "/metrics.csv");
  REQUIRE(table.size() == 6);
  CHECK(table[0] == "step,epoch,loss,lr,epoch_loss,validation_loss,samples_per_s,wall_s");
  CHECK(table[1].starts_with("1,1,"));
  CHECK(table[1].find(",0.01,,,") != std::string::npos);
  CHECK(table[5].starts_with("6,2,"));
  CHECK(std::count(table[5].begin(), table[5].end(), ',') == 7);

  auto report = nlohmann::json::parse(bytes_of(result.run_folder + "/report.json"));
  CHECK(report["status"] == "finished");
  CHECK(report["steps"] == 6);
  CHECK(report["epochs"] == 2);
  CHECK(report["tier"] == "interp");
  CHECK(report["rows"] == 20);
  CHECK(report["batch_size"] == 8);
  CHECK(report["settings"]["epochs"] == "2");
  CHECK(report["parameters"][0]["name"] == "w");
  CHECK(report["parameters"][0]["shape"] == std::vector<int>{2, 1});
  CHECK(report["parameters"][0]["trained"] == true);
  CHECK(report["inputs"] == std::vector<std::string>{"x"});
  CHECK(report["targets"] == std::vector<std::string>{"targets"});
  CHECK(report["validation_loss"] == result.validation.at("loss"));
  CHECK(report["weights"] == "final.safetensors");

  // The next run gets the next number and leaves the same weights.
  TrainResult next = run();
  CHECK(next.run_folder == folder.file("runs") + "/line_fit-2");
  CHECK(bytes_of(next.run_folder + "/final.safetensors") ==
        bytes_of(result.run_folder + "/final.safetensors"));
  std::filesystem::create_directory(folder.file("runs") + "/line_fit-9");
  std::filesystem::create_directory(folder.file("runs") + "/line_fit-12x");
  CHECK(run().run_folder == folder.file("runs") + "/line_fit-10");
}

TEST_CASE("a given folder is made, and what a job left in it goes only with leave") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.file("a/b/run/");
  const std::string path = folder.file("a/b/run");
  {
    RunFolder run(options, {}, {}, {"loss"});
    CHECK(run.path() == path);
    StepReport step;
    step.step = 1;
    run.write_metrics(step, nullptr);
    CHECK(run.metrics_lengths().jsonl == bytes_of(run.file("metrics.jsonl")).size());
    CHECK(run.metrics_lengths().csv == bytes_of(run.file("metrics.csv")).size());
    CHECK(run.write_final({{"w", Tensor::scalar(DType::Float32, 1)}}) == "final.safetensors");
    CHECK(run.save(checkpoint_of(42), 3) == "checkpoints/step-000000042.safetensors");
  }
  const std::string weights = bytes_of(path + "/final.safetensors");
  const std::string metrics = bytes_of(path + "/metrics.jsonl");
  CHECK(failure_of([&] {
          RunFolder run(options, {}, {}, {});
        }).starts_with("UsageError: run_dir: " + path + " holds the weights "));
  CHECK(bytes_of(path + "/final.safetensors") == weights);
  CHECK(bytes_of(path + "/metrics.jsonl") == metrics);

  options.overwrite = true;
  RunFolder run(options, {}, {"accuracy"}, {});
  CHECK(bytes_of(run.file("metrics.jsonl")).empty());
  CHECK(bytes_of(run.file("metrics.csv")) == "step,epoch,loss,lr,epoch_loss,accuracy,samples_per_s,wall_s\n");
  CHECK_FALSE(std::filesystem::exists(run.file("final.safetensors")));
  CHECK_FALSE(std::filesystem::exists(run.file("checkpoints/step-000000042.safetensors")));
}

TEST_CASE(
    "a folder with the report of a job that ended, or with files that no job wrote, is not written to") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.path();
  const auto tried = [&] { return failure_of([&] { RunFolder run(options, {}, {}, {}); }); };
  for (const char* status : {"finished", "interrupted"}) {
    folder.put("report.json", std::string("{\"status\": \"") + status + "\"}");
    CHECK(tried().find(std::string("holds the results of a job (") + status + ")") != std::string::npos);
    CHECK(bytes_of(folder.file("report.json")).find(status) != std::string::npos);
  }
  folder.put("report.json", "no job wrote this");
  for (const bool overwrite : {false, true}) {
    options.overwrite = overwrite;
    CHECK(tried().find("holds another report.json") != std::string::npos);
    CHECK(bytes_of(folder.file("report.json")) == "no job wrote this");
  }
  options.overwrite = false;
  // A job that failed before its first step leaves nothing that anybody wants.
  folder.put("report.json", "{\"status\": \"failed\"}");
  CHECK(tried() == "no failure");
  std::filesystem::remove(folder.file("report.json"));
  folder.put("report.md", "mine");
  options.overwrite = true;
  CHECK(tried().find("holds the file 'report.md', which no job wrote") != std::string::npos);
  CHECK(bytes_of(folder.file("report.md")) == "mine");
  std::filesystem::remove(folder.file("report.md"));
  options.overwrite = false;
  for (const char* name : {"notes.txt", "step-000000001.safetensors", "final.safetensors.bak"}) {
    const std::string path = folder.put(name, "mine");
    CHECK(tried().find(std::string("holds the file '") + name + "', which no job wrote") !=
          std::string::npos);
    options.overwrite = true;
    CHECK(tried() == "no failure");
    options.overwrite = false;
    CHECK(bytes_of(path) == "mine");
    std::filesystem::remove(path);
  }
  std::filesystem::create_directory(folder.file("elsewhere"));
  std::filesystem::create_symlink(folder.file("elsewhere"), folder.file("checkpoints"));
  options.overwrite = true;
  RunFolder run(options, {}, {}, {});
  CHECK(failure_of([&] { run.save(checkpoint_of(1), 3); }).starts_with("IOError: "));
  CHECK(std::filesystem::is_empty(folder.file("elsewhere")));
}

TEST_CASE("a run folder stands for its final weights, or for those of its newest checkpoint") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.file("run");
  RunFolder run(options, {}, {}, {});
  CHECK(failure_of([&] { weights_of_run(run.path()); }).starts_with("DataError: "));
  run.write_report({}, {});
  CHECK(failure_of([&] { weights_of_run(run.path()); }).find("saved no weights yet") != std::string::npos);
  Checkpoint checkpoint = checkpoint_of(7);
  checkpoint.parameters.emplace_back("kept", Tensor::scalar(DType::Float32, 5));
  checkpoint.names.trained = {"w"};
  checkpoint.state.averages = {Tensor::scalar(DType::Float32, 3)};
  checkpoint.state.optimizer_states = Value::tuple({Tensor::scalar(DType::Float32, 9)});
  run.save(checkpoint_of(6), 3);
  run.save(checkpoint, 3);
  NamedTensors weights = weights_of_run(run.path());
  REQUIRE(weights.size() == 2);
  CHECK(weights[0].first == "w");
  CHECK(weights[0].second.get_double(0) == 3);  // the average
  CHECK(weights[1].second.get_double(0) == 5);
  run.write_final({{"w", Tensor::scalar(DType::Float32, 4)}});
  weights = weights_of_run(run.path());
  REQUIRE(weights.size() == 1);
  CHECK(weights[0].second.get_double(0) == 4);
}

TEST_CASE("a job whose report is lost or damaged goes on, and nobody else's folder is taken for one") {
  for (const bool with_checkpoint : {true, false}) {
    TemporaryFolder folder;
    RunFolderOptions options;
    options.directory = folder.path();
    {
      RunFolder run(options, {}, {}, {});
      run.write_metrics({}, nullptr);
      if (with_checkpoint) run.save(checkpoint_of(7), 3);
    }
    folder.put("report.md", "the page");
    options.resume = true;
    const auto tried = [&] { return failure_of([&] { RunFolder run(options, {}, {}, {}); }); };
    CHECK(tried() == "no failure");
    folder.put("report.json", "{\"status\": ");
    CHECK(tried() == "no failure");
    std::filesystem::remove(folder.file("report.json"));
    if (with_checkpoint) CHECK(weights_of_run(folder.path()).size() == 1);
    // Files that only have the names.
    if (with_checkpoint) folder.put("checkpoints/step-000000007.safetensors", "mine");
    folder.put("metrics.jsonl", "{\"step\": 1, \"reward\": 2}\n");
    CHECK(tried().find("holds the file 'report.md', which no job wrote") != std::string::npos);
    folder.put("report.json", "{}");
    CHECK(tried().find("holds another report.json") != std::string::npos);
  }
}

TEST_CASE("a folder that is removed, or another in its place, is told by the next line") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.file("run");
  RunFolder run(options, {}, {}, {});
  run.write_metrics({}, nullptr);
  CHECK_FALSE(run.is_gone());
  std::filesystem::rename(options.directory, folder.file("moved"));
  for (const bool another : {false, true}) {
    if (another) std::filesystem::create_directory(options.directory);
    CHECK(failure_of([&] { run.write_metrics({}, nullptr); }) ==
          "IOError: " + options.directory + ": cannot write: the run folder was removed while the job ran");
  }
}

TEST_CASE("of the checkpoints the newest stay") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.file("run");
  RunFolder run(options, {}, {}, {});
  for (const std::int64_t step : {20, 40, 60, 80, 30}) run.save(checkpoint_of(step), 2);
  // A later one may be damaged: it does not count, and is not touched.
  CHECK(checkpoint_steps(run.path()) == std::vector<std::int64_t>{30, 60, 80});
  run.save(checkpoint_of(100), 2);
  CHECK(checkpoint_steps(run.path()) == std::vector<std::int64_t>{80, 100});
}

TEST_CASE("what a killed job was writing goes, and its further jobs keep their folders") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.path();
  options.resume = true;
  folder.put(".relish-0123456789abcdef.tmp", "half");
  folder.put(".relish-notes.tmp", "mine");
  folder.put("metrics.jsonl", "one\ntwo\n");
  std::filesystem::create_directory(folder.file("job-2"));
  folder.put("job-2/final.safetensors", "weights");
  {
    RunFolder run(options, {}, {}, {});
    CHECK_FALSE(std::filesystem::exists(folder.file(".relish-0123456789abcdef.tmp")));
    CHECK(bytes_of(folder.file(".relish-notes.tmp")) == "mine");
    run.start_metrics({4, 0});
    CHECK(bytes_of(folder.file("metrics.jsonl")) == "one\n");
    CHECK(run.metrics_lengths().jsonl == 4);
  }
  std::filesystem::remove(folder.file(".relish-notes.tmp"));
  options.resume = false;
  options.overwrite = true;
  RunFolder run(options, {}, {}, {});
  CHECK(bytes_of(folder.file("job-2/final.safetensors")) == "weights");
}

TEST_CASE("a folder in use is refused, and free again afterwards") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.file("run");
  {
    RunFolder first(options, {}, {}, {});
    StepReport step;
    first.write_metrics(step, nullptr);
    std::string before = bytes_of(first.file("metrics.jsonl"));
    CHECK(failure_of([&] { RunFolder second(options, {}, {}, {}); }) ==
          "IOError: " + folder.file("run") + "/lock: cannot lock: the run folder is in use by process " +
              std::to_string(::getpid()));
    CHECK(bytes_of(first.file("metrics.jsonl")) == before);
  }
  CHECK(failure_of([&] { RunFolder second(options, {}, {}, {}); }) == "no failure");
}

TEST_CASE("a folder that cannot be used is an error before anything runs") {
  TemporaryFolder folder;
  RunFolderOptions options;
  options.directory = folder.put("file", "x");
  CHECK(failure_of([&] {
          RunFolder run(options, {}, {}, {});
        }).starts_with("IOError: " + options.directory + ": cannot "));
  options.directory = folder.file("link");
  REQUIRE(::symlink("nowhere", options.directory.c_str()) == 0);
  CHECK(failure_of([&] {
          RunFolder run(options, {}, {}, {});
        }).starts_with("IOError: " + options.directory + ": cannot "));
  for (const char* below : {"", "/run"}) {
    RunFolderOptions through = options;
    through.directory += below;
    CHECK(failure_of([&] {
            RunFolder run(through, {}, {}, {});
          }).find("is a link to 'nowhere', and nothing is there") != std::string::npos);
  }
  // A link in place of a file of the run is not followed.
  options.directory = folder.file("run");
  std::filesystem::create_directory(options.directory);
  std::string victim = folder.put("victim", "precious");
  REQUIRE(::symlink(victim.c_str(), (options.directory + "/metrics.jsonl").c_str()) == 0);
  CHECK(failure_of([&] {
          RunFolder run(options, {}, {}, {});
        }).find("holds the file 'metrics.jsonl', which no job wrote") != std::string::npos);
  // Nor may it cost the results of the job before.
  const std::string weights = options.directory + "/final.safetensors";
  std::ofstream(weights) << "weights";
  options.overwrite = true;
  CHECK(failure_of([&] {
          RunFolder run(options, {}, {}, {});
        }).find("holds the file 'metrics.jsonl', which no job wrote") != std::string::npos);
  CHECK(bytes_of(victim) == "precious");
  CHECK(bytes_of(weights) == "weights");
}

}  // namespace
}  // namespace relish
