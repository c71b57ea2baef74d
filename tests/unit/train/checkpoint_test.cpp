// A job that was stopped and goes on ends as one that was not; and no damaged or foreign checkpoint is taken.
#include "train/checkpoint.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/interrupt.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/train/linear_model.h"

namespace relish {
namespace {

using testing::bytes_of;
using testing::failure_of;
using testing::linear_data;
using testing::LinearEvaluator;
using testing::TemporaryFolder;

class Notes : public TrainingObserver {
 public:
  void on_note(const std::string& text) override { notes.push_back(text); }
  void on_step(const StepReport& report) override { steps.push_back(report.step); }
  std::vector<std::string> notes;
  std::vector<std::int64_t> steps;
};

// Stops in the middle of a validation, as a signal does.
class StoppedInValidation : public LinearEvaluator {
 public:
  Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
    if (function == "main_loss" && ++validations == stop_at)
      fail(ErrorClass::Interrupted, {}, "", "stopped by SIGTERM");
    return LinearEvaluator::call(module, function, std::move(args));
  }
  int validations = 0;
  int stop_at = 0;
};

TrainOptions job_options() {
  TrainOptions options;
  options.epochs = 4;
  options.batch_size = 8;
  options.learning_rate = 0.1;
  options.validation = linear_data(5);
  options.log_every = {2, 0};
  options.checkpoint_every = {3, 0};
  return options;
}

struct LinearJob {
  TemporaryFolder folder;
  RunRequest request;
  TrainOptions options = job_options();
  TrainingProgram program = testing::linear_program(ScalarVar("n", DType::Int64));
  DataSet data = linear_data(20);
  Notes notes;

  LinearJob() { request.folder.directory = folder.file("run"); }
  TrainResult run(Evaluator& evaluator) { return train(evaluator, program, data, options, &request, &notes); }
  TrainResult resume(Evaluator& evaluator) {
    request.folder.resume = true;
    return run(evaluator);
  }
  std::string file(const std::string& name) const { return folder.file("run/" + name); }
};

// The metrics without what depends on the clock.
std::vector<std::string> metrics_of(const LinearJob& job) {
  std::istringstream text(bytes_of(job.file("metrics.jsonl")));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    auto json = nlohmann::json::parse(line);
    json.erase("samples_per_s");
    json.erase("wall_s");
    lines.push_back(json.dump());
  }
  return lines;
}

void check_equal(const LinearJob& job, const LinearJob& whole) {
  CHECK(bytes_of(job.file("final.safetensors")) == bytes_of(whole.file("final.safetensors")));
  CHECK(bytes_of(job.file("best.safetensors")) == bytes_of(whole.file("best.safetensors")));
  CHECK(metrics_of(job) == metrics_of(whole));
  const std::string csv = bytes_of(job.file("metrics.csv")), of_whole = bytes_of(whole.file("metrics.csv"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == std::count(of_whole.begin(), of_whole.end(), '\n'));
  const auto last = read_checkpoint(job.file("checkpoints/step-000000012.safetensors"));
  const auto of = read_checkpoint(whole.file("checkpoints/step-000000012.safetensors"));
  CHECK(last.told.epochs_told == 4);
  CHECK(last.told.epoch_loss_sum == of.told.epoch_loss_sum);
  CHECK(last.told.last_epoch->validation == of.told.last_epoch->validation);
  CHECK(last.told.best->step == of.told.best->step);
}

}  // namespace

TEST_CASE("a job that is stopped in any step and goes on ends as one that was not") {
  LinearJob whole;
  LinearEvaluator evaluator;
  const TrainResult result = whole.run(evaluator);
  CHECK(result.steps == 12);
  CHECK(bytes_of(whole.file("report.json")).find("\"weights\": \"final.safetensors\"") != std::string::npos);
  for (std::int64_t stopped = 1; stopped <= 12; ++stopped) {
    INFO(stopped);
    LinearJob job;
    LinearEvaluator first;
    first.interrupt_in_step = stopped;
    const TrainResult part = job.run(first);
    CHECK(part.status == RunStatus::Interrupted);
    CHECK(part.steps == stopped - 1);
    CHECK(part.weights.empty() == (stopped == 1));
    LinearEvaluator second;
    const TrainResult rest = job.resume(second);
    CHECK(rest.status == RunStatus::Finished);
    CHECK(rest.loss == result.loss);
    CHECK(rest.epoch_loss == result.epoch_loss);
    CHECK(rest.validation == result.validation);
    CHECK(job.notes.steps.size() == 12);
    CHECK(second.batch_rows.size() == static_cast<std::size_t>(13 - stopped));
    check_equal(job, whole);
  }
}

TEST_CASE("a job that is stopped between an epoch's last step and its metrics takes them first") {
  LinearJob whole;
  LinearEvaluator evaluator;
  whole.run(evaluator);
  for (int stop = 1; stop <= 4; ++stop) {
    LinearJob job;
    StoppedInValidation first;
    first.stop_at = stop;
    CHECK(job.run(first).steps == 3 * stop);
    LinearEvaluator second;
    CHECK(job.resume(second).steps == 12);
    check_equal(job, whole);
  }
}

TEST_CASE("a job that finished is resumed to the same result without a step") {
  LinearJob job;
  LinearEvaluator evaluator;
  const TrainResult result = job.run(evaluator);
  const std::string weights = bytes_of(job.file("final.safetensors"));
  LinearEvaluator again;
  const TrainResult same = job.resume(again);
  CHECK(again.batch_rows.empty());
  CHECK(same.loss == result.loss);
  CHECK(same.validation == result.validation);
  CHECK(bytes_of(job.file("final.safetensors")) == weights);
  // More epochs go on from there, as one job of so many would have; fewer cannot.
  job.options.epochs = 6;
  CHECK(job.resume(again).steps == 18);
  LinearJob longer;
  longer.options.epochs = 6;
  longer.run(evaluator);
  CHECK(bytes_of(job.file("final.safetensors")) == bytes_of(longer.file("final.safetensors")));
  job.options.epochs = 2;
  CHECK(failure_of([&] { job.resume(again); }).ends_with("the checkpoint is of step 18; the job has 6"));
}

TEST_CASE("the newest checkpoints stay, and a damaged one is passed over with a warning") {
  LinearJob whole;
  LinearEvaluator evaluator;
  whole.run(evaluator);
  CHECK(checkpoint_steps(whole.file("")) == std::vector<std::int64_t>{6, 9, 12});
  for (const std::string damage : {"cut", "zeros", "bit"}) {
    INFO(damage);
    LinearJob job;
    LinearEvaluator first;
    first.interrupt_in_step = 11;
    job.run(first);
    const std::string path = job.file("checkpoints/step-000000010.safetensors");
    std::string bytes = bytes_of(path);
    if (damage == "cut") bytes.resize(bytes.size() - 1);
    if (damage == "zeros") bytes.assign(bytes.size(), '\0');
    if (damage == "bit") bytes.back() ^= 1;
    std::ofstream(path, std::ios::binary) << bytes;
    LinearEvaluator second;
    job.resume(second);
    REQUIRE(job.notes.notes.size() == 2);
    CHECK(job.notes.notes[0].starts_with("warning: " + path + ": the checkpoint is damaged: "));
    CHECK(job.notes.notes[1].starts_with("goes on behind step 9 of 12, from "));
    check_equal(job, whole);
    // One that is named is not passed over.
    std::ofstream(path, std::ios::binary) << bytes;
    job.request.checkpoint = path;
    CHECK(failure_of([&] { job.resume(second); }).starts_with("CheckpointError: "));
  }
}

TEST_CASE("every bit of a checkpoint counts, and every byte") {
  LinearJob job;
  LinearEvaluator evaluator;
  job.options.epochs = 1;
  job.run(evaluator);
  const std::string bytes = bytes_of(job.file("checkpoints/step-000000003.safetensors"));
  const std::string path = job.folder.file("copy.safetensors");
  const auto refused = [&](const std::string& changed) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    return failure_of([&] { read_checkpoint(path); }).starts_with("CheckpointError: ");
  };
  REQUIRE_FALSE(refused(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    INFO(i);
    REQUIRE(refused(changed));
  }
  for (std::size_t part = 0; part < 64; ++part) REQUIRE(refused(bytes.substr(0, bytes.size() * part / 64)));
  CHECK(refused(bytes + '\0'));
}

TEST_CASE("a checkpoint of another program is refused with what differs") {
  LinearJob job;
  LinearEvaluator evaluator;
  evaluator.interrupt_in_step = 6;
  job.run(evaluator);
  const auto refusal = [&](void (*change)(LinearJob&)) {
    LinearJob other;
    change(other);
    other.request.folder.directory = job.request.folder.directory;
    const std::string before = bytes_of(job.file("metrics.jsonl"));
    LinearEvaluator unused;
    const std::string found = failure_of([&] { other.resume(unused); });
    CHECK(bytes_of(job.file("metrics.jsonl")) == before);
    CHECK(unused.batch_rows.empty());
    return found.substr(0, 17) + " " + found.substr(std::min(found.find("program: ") + 9, found.size()));
  };
  const auto starts = [](const std::string& text, const std::string& what) {
    INFO(text);
    CHECK(text.starts_with("CheckpointError:  " + what));
  };
  starts(refusal([](LinearJob& o) { o.options.batch_size = 4; }),
         "option batch_size is 4, the checkpoint has 8; expected");
  starts(refusal([](LinearJob& o) { o.options.seed = 3; }), "option seed is 3, the checkpoint has 0; ");
  starts(refusal([](LinearJob& o) { o.options.learning_rate = 0.2; }),
         "option lr is 0.2, the checkpoint has 0.1");
  starts(refusal([](LinearJob& o) { o.options.shuffle = false; }), "option shuffle is False");
  starts(refusal([](LinearJob& o) { o.options.validation.reset(); }), "option validation is none");
  starts(refusal([](LinearJob& o) { o.options.metrics = {"loss"}; }), "option metrics is loss, the");
  starts(refusal([](LinearJob& o) { o.data.targets[0].tensor().set_double(3, 9); }), "option data is ");
  starts(refusal([](LinearJob& o) {
           o.options.parameters = {{"b", Tensor::from<double>({1}, std::vector<double>{1})}};
         }),
         "option params is b float64 (1,) ");
  starts(refusal([](LinearJob& o) {
           auto module = std::make_shared<Module>(*o.program.module);
           Function main = *module->function("main");
           main.attributes.emplace_back("changed", std::int64_t{1});
           module->set(std::make_shared<const Function>(main));
           o.program.module = module;
         }),
         "the function main has another text; expected");
  // What decides no number may differ: how often is logged and saved, and names of comments.
  job.options.log_every = {1, 0};
  job.options.checkpoint_every = {0, 5};
  LinearEvaluator second;
  CHECK(job.resume(second).status == RunStatus::Finished);
}

TEST_CASE("tensors that are not the job's are refused, and so is a newer format") {
  TemporaryFolder folder;
  const std::string path = folder.file("c.safetensors");
  Checkpoint checkpoint;
  checkpoint.names.trained = {"w"};
  checkpoint.parameters = {{"w", Tensor::zeros(DType::Float32, {2})}};
  checkpoint.state.optimizer_states = Value::tuple({Tensor::scalar(DType::Float32, 1)});
  write_checkpoint(path, checkpoint);
  const SavedCheckpoint saved = read_checkpoint(path);
  const auto refusal = [&](const std::vector<std::string>& trained, Tensor parameter, Value states) {
    TrainingState start;
    start.parameters = {std::move(parameter)};
    start.optimizer_states = std::move(states);
    const std::string found = failure_of([&] { saved.state_for({}, {trained, {}}, start); });
    return found == "no failure" ? found : found.substr(found.find(".safetensors: ") + 14);
  };
  const Tensor two = Tensor::zeros(DType::Float32, {2});
  const Value one = Value::tuple({Tensor::scalar(DType::Float32, 0)});
  CHECK(refusal({"w"}, two, one) == "no failure");
  CHECK(refusal({"v"}, two, one) == "there is no tensor 'v', which the job has");
  CHECK(refusal({"w"}, Tensor::zeros(DType::Float32, {3}), one) ==
        "the tensor 'w' is float32 (2,); that of the job is float32 (3,)");
  CHECK(refusal({"w"}, Tensor::zeros(DType::Float64, {2}), one) ==
        "the tensor 'w' is float32 (2,); that of the job is float64 (2,)");
  CHECK(refusal({"w"}, two, Value::tuple({one})) == "there is no tensor 'states.0.0', which the job has");
  CHECK(refusal({"w"}, two, Value::tuple({})) == "the job has no optimizer state 'states.0'");

  write_safetensors(path, checkpoint.parameters, {{"relish", "{\"format\": 2}"}}, "relish.sha256");
  CHECK(failure_of([&] { read_checkpoint(path); }).find("the checkpoint has format 2, of a newer Relish") !=
        std::string::npos);
  for (const char* manifest : {"{\"format\": 1}", "[]", "{\"format\": \"x\"}", "no JSON",
                               "{\"format\": 1, \"byte_order\": \"big\", \"program\": {}}"}) {
    write_safetensors(path, checkpoint.parameters, {{"relish", manifest}}, "relish.sha256");
    CHECK(failure_of([&] { read_checkpoint(path); }).starts_with("CheckpointError: "));
  }
  write_safetensors(path, checkpoint.parameters);
  CHECK(failure_of([&] { read_checkpoint(path); }).find("the file is no checkpoint") != std::string::npos);
}

TEST_CASE("a request to save is obeyed once, and the job goes on") {
  class SavesInStep : public Notes {
   public:
    void on_step(const StepReport& report) override {
      if (report.step == 5) std::raise(SIGUSR1);
    }
  };
  install_signal_handlers();
  LinearJob job;
  job.options.checkpoint_every = {1000, 0};
  LinearEvaluator evaluator;
  SavesInStep observer;
  train(evaluator, job.program, job.data, job.options, &job.request, &observer);
  CHECK(checkpoint_steps(job.file("")) == std::vector<std::int64_t>{5, 12});
}

TEST_CASE("a job whose folder is removed ends at the next thing that it writes") {
  class Removes : public Notes {
   public:
    void on_step(const StepReport& report) override {
      Notes::on_step(report);
      // At once, as the saver may be writing there.
      if (report.step == 5) std::filesystem::rename(folder, folder + "-moved");
    }
    std::string folder;
  };
  for (const bool by_metrics : {true, false}) {
    LinearJob job;
    LinearEvaluator evaluator;
    Removes observer;
    observer.folder = job.request.folder.directory;
    job.options.epochs = 40;
    (by_metrics ? job.options.checkpoint_every : job.options.log_every) = {1000, 0};
    const std::string failure =
        failure_of([&] { train(evaluator, job.program, job.data, job.options, &job.request, &observer); });
    CHECK(failure.starts_with("IOError: "));
    CHECK(observer.steps.back() <= (by_metrics ? 6 : 10));
    CHECK_FALSE(std::filesystem::exists(observer.folder));
  }
}

TEST_CASE("a job that goes on over shortened metrics says so, and its lines stay whole") {
  LinearJob job;
  LinearEvaluator evaluator;
  job.run(evaluator);
  const std::string metrics = bytes_of(job.file("metrics.jsonl"));
  std::filesystem::resize_file(job.file("metrics.jsonl"), metrics.size() - 5);
  job.options.epochs = 5;
  job.notes.notes.clear();
  CHECK(job.resume(evaluator).steps == 15);
  const auto told = [&](const std::string& part) {
    return std::any_of(job.notes.notes.begin(), job.notes.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  };
  CHECK(told("metrics.jsonl has"));
  CHECK_FALSE(told("metrics.csv has"));
  CHECK(told("the job was one of 4 epochs, 12 steps when it was saved; now it is one of 5 epochs, 15 steps"));
  std::vector<std::int64_t> steps;
  std::istringstream lines(bytes_of(job.file("metrics.jsonl")));
  for (std::string line; std::getline(lines, line);)
    steps.push_back(nlohmann::json::parse(line).at("step").get<std::int64_t>());
  CHECK(std::find(steps.begin(), steps.end(), 12) == steps.end());
  CHECK(steps.back() == 15);
}

TEST_CASE("a job that goes on in another folder begins behind the newest checkpoint of the first") {
  LinearJob job, longer;
  LinearEvaluator evaluator;
  job.run(evaluator);
  job.request.checkpoint = job.folder.file("run");
  job.request.folder.directory = job.folder.file("other");
  job.options.epochs = longer.options.epochs = 6;
  CHECK(job.run(evaluator).steps_before == 12);
  longer.run(evaluator);
  CHECK(bytes_of(job.folder.file("other/final.safetensors")) == bytes_of(longer.file("final.safetensors")));
}

TEST_CASE("what early stopping says of its end stands in the report, also of a job that is resumed") {
  LinearJob job;
  job.options.epochs = 40;
  job.options.learning_rate = 0;
  job.options.early_stopping = EarlyStopping{"loss", 2, 0};
  LinearEvaluator evaluator;
  const auto stopped_early = [&] {
    return nlohmann::json::parse(bytes_of(job.file("report.json"))).value("stopped_early", "");
  };
  CHECK(job.run(evaluator).steps == 9);
  const std::string why = stopped_early();
  CHECK(why.starts_with("validation loss has been at best "));
  CHECK(why.ends_with(" for 2 epochs"));
  CHECK(job.resume(evaluator).steps == 9);
  CHECK(stopped_early() == why);
}

TEST_CASE("a checkpoint that cannot be written is told of, and the job goes on") {
  LinearJob job;
  class Blocks : public Notes {
   public:
    explicit Blocks(const LinearJob& job) : job_(job) {}
    void on_step(const StepReport& report) override {
      const std::string blocked = job_.file("checkpoints/step-000000003.safetensors");
      if (report.step == 2) std::filesystem::create_directories(blocked);
    }

   private:
    const LinearJob& job_;
  };
  Blocks observer(job);
  LinearEvaluator evaluator;
  const TrainResult result = train(evaluator, job.program, job.data, job.options, &job.request, &observer);
  CHECK(result.status == RunStatus::Finished);
  REQUIRE(observer.notes.size() == 1);
  CHECK(observer.notes[0].starts_with("warning: the checkpoint of step 3 could not be saved: IOError: "));
  CHECK(checkpoint_steps(job.file("")) == std::vector<std::int64_t>{6, 9, 12});
}

}  // namespace relish
