// The step loop on a model without an engine: it learns, the same bytes each time, and stops where it must.
#include "train/train.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <limits>

#include "support/interrupt.h"
#include "tests/unit/catch_failure.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/train/linear_model.h"

namespace relish {
namespace {

using testing::failure_of;
using testing::linear_data;
using testing::linear_program;
using testing::LinearEvaluator;

TrainingProgram open_program() { return linear_program(ScalarVar("n", DType::Int64)); }

TrainOptions quick_options() {
  TrainOptions options;
  options.epochs = 60;
  options.batch_size = 8;
  options.learning_rate = 0.2;
  return options;
}

LoopActions no_actions() {
  return {[](const StepReport&, const EpochReport*) {}, [] { return true; }, [] {}, [] {}};
}

class StepRecorder : public TrainingObserver {
 public:
  void on_step(const StepReport& report) override {
    steps.push_back(report);
    if (report.step == raise_after) std::raise(SIGINT);
  }
  void on_epoch(const EpochReport& report) override { epochs.push_back(report); }
  bool should_stop() override {
    return stop_after > 0 && static_cast<std::int64_t>(steps.size()) >= stop_after;
  }

  std::vector<StepReport> steps;
  std::vector<EpochReport> epochs;
  std::int64_t stop_after = 0;
  std::int64_t raise_after = 0;
};

TEST_CASE("training finds the line, with the same bytes in every run") {
  LinearEvaluator evaluator;
  TrainResult first = train(evaluator, open_program(), linear_data(50), quick_options());
  CHECK(first.steps == std::int64_t{60} * 7);
  CHECK(first.epochs == 60);
  REQUIRE(first.parameters.size() == 2);
  CHECK(first.parameters[0].first == "w");
  CHECK(first.parameters[0].second.get_double(0) == Approx(2).epsilon(1e-6));
  CHECK(first.parameters[0].second.get_double(1) == Approx(-3).epsilon(1e-6));
  CHECK(first.parameters[1].second.get_double(0) == Approx(0.5).epsilon(1e-6));
  CHECK(first.loss < 1e-10);
  CHECK(first.run_folder.empty());
  CHECK(first.status == RunStatus::Finished);

  TrainResult second = train(evaluator, open_program(), linear_data(50), quick_options());
  CHECK(identical(first.parameters[0].second, second.parameters[0].second));
  CHECK(identical(first.parameters[1].second, second.parameters[1].second));
  TrainOptions options = quick_options();
  options.epochs = 1;
  options.seed = 1;
  TrainResult other = train(evaluator, open_program(), linear_data(50), options);
  options.seed = 0;
  TrainResult same = train(evaluator, open_program(), linear_data(50), options);
  CHECK_FALSE(identical(other.parameters[0].second, same.parameters[0].second));
}

TEST_CASE("options without sense are refused by rule") {
  LinearEvaluator evaluator;
  const auto rule = [&](void (*change)(TrainOptions&)) {
    TrainOptions options = quick_options();
    change(options);
    return testing::rule_of([&] { train(evaluator, open_program(), linear_data(50), options); });
  };
  CHECK(rule([](TrainOptions& o) { o.epochs = 0; }) == "UsageError: train.epochs");
  CHECK(rule([](TrainOptions& o) { o.steps = 0; }) == "UsageError: train.steps");
  CHECK(rule([](TrainOptions& o) { o.batch_size = 0; }) == "UsageError: train.batch_size");
  CHECK(rule([](TrainOptions& o) { o.learning_rate = std::numeric_limits<double>::infinity(); }) ==
        "UsageError: train.lr");
  CHECK(rule([](TrainOptions& o) { o.log_every = {-1, 0}; }) == "UsageError: train.log_every");
  CHECK(rule([](TrainOptions& o) { o.checkpoint_every = {}; }) == "UsageError: train.checkpoint_every");
}

TEST_CASE("reports: steps and epochs count from 1, and epochs bring the validation metrics") {
  LinearEvaluator evaluator;
  TrainOptions options = quick_options();
  options.epochs = 2;
  options.validation = linear_data(11);
  options.log_every.steps = 3;
  StepRecorder recorder;
  TrainResult result = train(evaluator, open_program(), linear_data(20), options, nullptr, &recorder);
  REQUIRE(recorder.steps.size() == 6);
  std::vector<std::int64_t> logged;
  for (const StepReport& step : recorder.steps) {
    if (step.logged) logged.push_back(step.step);
    CHECK(step.total_steps == 6);
    CHECK(step.total_epochs == 2);
    CHECK(step.learning_rate == 0.2);
  }
  CHECK(logged == std::vector<std::int64_t>{1, 3, 6});
  CHECK(recorder.steps[2].epoch == 1);
  CHECK(recorder.steps[3].epoch == 2);
  CHECK(recorder.steps[5].samples == 40);
  CHECK(evaluator.batch_rows == std::vector<std::int64_t>{8, 8, 4, 8, 8, 4});
  REQUIRE(recorder.epochs.size() == 2);
  double mean = (recorder.steps[0].loss * 8 + recorder.steps[1].loss * 8 + recorder.steps[2].loss * 4) / 20;
  CHECK(recorder.epochs[0].loss == Approx(mean).epsilon(1e-14));
  REQUIRE(recorder.epochs[1].validation);
  CHECK(recorder.epochs[1].validation->at("loss") == result.validation.at("loss"));
  CHECK(result.epoch_loss == recorder.epochs[1].loss);
  CHECK(result.loss == recorder.steps[5].loss);
}

TEST_CASE("a fixed batch drops the short one and sets the batch size") {
  LinearEvaluator evaluator;
  TrainOptions options;
  CHECK(train(evaluator, linear_program(Scalar(6)), linear_data(20), options).steps == 3);
  CHECK(evaluator.batch_rows == std::vector<std::int64_t>{6, 6, 6});
  options.batch_size = 5;
  CHECK(failure_of([&] { train(evaluator, linear_program(Scalar(6)), linear_data(20), options); }) ==
        "UsageError: found batch_size 5; train_step takes batches of 6 rows");
  CHECK(failure_of([&] { train(evaluator, linear_program(Scalar(6)), linear_data(4), {}); }) ==
        "DataError: data: found 4 rows; train_step takes batches of 6 rows");
}

TEST_CASE("what does not fit is refused before the first step and before a folder is made") {
  LinearEvaluator evaluator;
  testing::TemporaryFolder folder;
  RunRequest request;
  request.folder.directory = folder.file("run");
  auto refusal = [&](const DataSet& data, const TrainOptions& options) {
    return failure_of([&] { train(evaluator, open_program(), data, options, &request); });
  };
  DataSet data = linear_data(12);
  TrainOptions options;
  DataSet two = {{data.inputs[0], data.inputs[0]}, data.targets};
  CHECK(refusal(two, options) ==
        "UsageError: data: found 3 tensors; expected 2 for the parameters that have no value: "
        "x, targets");
  CHECK(refusal({{data.inputs[0]}, {Tensor::zeros(DType::Float64, {12, 2})}}, options)
            .starts_with("DataError: "));
  CHECK(refusal({{data.inputs[0]}, {Tensor::zeros(DType::Float32, {12, 1})}}, options)
            .starts_with("DataError: "));
  options.epochs = 0;
  CHECK(refusal(data, options) == "UsageError: found epochs 0; expected a positive number");
  options.epochs = 1;
  options.batch_size = 0;
  CHECK(refusal(data, options) == "UsageError: found batch_size 0; expected a positive number");
  options.batch_size = 4;
  options.metrics = {"precision"};
  CHECK(
      refusal(data, options) ==
      "UsageError: unknown metric 'precision'; metrics are accuracy, loss, mae, mse, perplexity, r2, top_k");
  options.metrics = {};
  options.parameters = {{"ww", Tensor::zeros(DType::Float64, {2, 1})}};
  CHECK(refusal(data, options) == "UsageError: params: no parameter 'ww'; did you mean 'w'?");
  options.parameters = {{"w", Tensor::zeros(DType::Float64, {3, 1})}};
  CHECK(refusal(data, options).starts_with("DataError: "));
  CHECK(evaluator.batch_rows.empty());
  CHECK_FALSE(std::filesystem::exists(request.folder.directory));
}

TEST_CASE("given parameters are the start, and a parameter that is not trained keeps its value") {
  LinearEvaluator evaluator;
  TrainOptions options;
  options.steps = 1;
  options.learning_rate = 0;
  options.parameters = {{"w", Tensor::from<double>({2, 1}, std::vector<double>{7, 8})}};
  TrainResult result = train(evaluator, open_program(), linear_data(4), options);
  CHECK(result.parameters[0].second.get_double(1) == 8);
  CHECK(result.epochs == 1);

  TrainingProgram program = open_program();
  program.initial_params.clear();
  CHECK(failure_of([&] { train(evaluator, program, linear_data(4), options); }) ==
        "UsageError: parameter 'b' has no start value; expected one in params");
}

TEST_CASE("a loss that is not finite stops the job at its step") {
  LinearEvaluator evaluator;
  testing::TemporaryFolder folder;
  RunRequest request;
  request.folder.directory = folder.file("run");
  DataSet data = linear_data(12);
  TrainOptions options;
  options.batch_size = 4;
  options.shuffle = false;
  data.inputs[0].tensor().set_double(2 * 9 + 1, NAN);
  CHECK(failure_of([&] { train(evaluator, open_program(), data, options, &request); }) ==
        "NumericStop: step 3: the loss is nan; the first tensor that is not finite is the input 'x', row 9 "
        "of the data; the state before this step is kept");
  const std::string report = testing::bytes_of(request.folder.directory + "/report.json");
  CHECK(report.find("\"status\": \"numeric_stop\"") != std::string::npos);
  CHECK(report.find("\"steps\": 2") != std::string::npos);
  CHECK(report.find("\"weights\": \"checkpoints/step-000000002.safetensors\"") != std::string::npos);
  // The weights are those of the last whole step.
  options.steps = 2;
  const TrainResult two = train(evaluator, open_program(), data, options);
  options.steps.reset();
  const NamedTensors left =
      read_safetensors(request.folder.directory + "/checkpoints/step-000000002.safetensors");
  REQUIRE(left.size() == 3);
  for (const auto& [name, tensor] : left)
    if (name != "states.0") CHECK(identical(tensor, two.parameters[name == "w" ? 0 : 1].second));
  CHECK_FALSE(std::filesystem::exists(request.folder.directory + "/final.safetensors"));

  options.learning_rate = 1e200;
  CHECK(failure_of([&] { train(evaluator, open_program(), linear_data(12), options); }) ==
        "NumericStop: step 2: the loss is inf; the state before this step is kept");
  options.learning_rate = 1.7e308;
  CHECK(failure_of([&] { train(evaluator, open_program(), linear_data(12), options); }) ==
        "NumericStop: step 1: the update of parameter 'w' is not finite; the state before this step is kept");
  options.learning_rate = INFINITY;
  CHECK(failure_of([&] { train(evaluator, open_program(), linear_data(12), options); }) ==
        "UsageError: found learning rate inf; expected a finite number");
}

TEST_CASE("the observer ends a job with its results so far") {
  LinearEvaluator evaluator;
  StepRecorder recorder;
  recorder.stop_after = 4;
  TrainResult result = train(evaluator, open_program(), linear_data(50), quick_options(), nullptr, &recorder);
  CHECK(result.status == RunStatus::Stopped);
  CHECK(result.steps == 4);
}

TEST_CASE("a checkpoint that is put off is asked for behind each step until it is taken") {
  LinearEvaluator evaluator;
  TrainOptions options = quick_options();
  options.steps = 12;
  options.checkpoint_every = {5, 0};
  Trainer trainer(evaluator, open_program(), linear_data(50), options);
  std::vector<std::int64_t> asked, taken;
  LoopActions actions = no_actions();
  actions.save = [&] {
    asked.push_back(trainer.state().step);
    if (asked.size() < 3) return false;
    taken.push_back(trainer.state().step);
    return true;
  };
  TrainingObserver silent;
  CHECK(trainer.run(silent, actions) == StopReason::Finished);
  CHECK(asked == std::vector<std::int64_t>{5, 6, 7, 10});
  CHECK(taken == std::vector<std::int64_t>{7, 10});
}

TEST_CASE("an interrupt ends a job between steps and leaves the state") {
  install_signal_handlers();
  LinearEvaluator evaluator;
  StepRecorder recorder;
  recorder.raise_after = 5;
  Trainer trainer(evaluator, open_program(), linear_data(50), quick_options());
  CHECK(trainer.run(recorder, no_actions()) == StopReason::Interrupted);
  CHECK(trainer.state().step == 5);
  REQUIRE(trainer.interrupt());
  CHECK(trainer.interrupt()->exit_code() == 130);

  // The state is whole: going on gives what an uninterrupted job gives.
  CHECK(trainer.run(recorder, no_actions()) == StopReason::Finished);
  TrainResult whole = train(evaluator, open_program(), linear_data(50), quick_options());
  CHECK(identical(trainer.state().parameters[0], whole.parameters[0].second));

  testing::TemporaryFolder folder;
  RunRequest request;
  request.folder.directory = folder.file("run");
  evaluator.interrupt_in_step = 9;
  const TrainResult stopped = train(evaluator, open_program(), linear_data(50), quick_options(), &request);
  CHECK(stopped.status == RunStatus::Interrupted);
  REQUIRE(stopped.interrupt);
  CHECK(std::string(stopped.interrupt->what()) == "Interrupted: stopped by SIGINT");
  CHECK(stopped.steps == 8);
  CHECK(stopped.weights == request.folder.directory + "/checkpoints/step-000000008.safetensors");
  const NamedTensors left = read_safetensors(stopped.weights);
  REQUIRE(left.size() == 3);
  for (const auto& [name, tensor] : left)
    if (name != "states.0") CHECK(identical(tensor, stopped.parameters[name == "w" ? 0 : 1].second));
  CHECK_FALSE(std::filesystem::exists(request.folder.directory + "/final.safetensors"));
  std::string report = testing::bytes_of(request.folder.directory + "/report.json");
  CHECK(report.find("\"status\": \"interrupted\"") != std::string::npos);
  CHECK(report.find("\"steps\": 8") != std::string::npos);
}

}  // namespace
}  // namespace relish
