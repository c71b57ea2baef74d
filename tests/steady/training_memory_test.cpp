// Training as `train` does it, step by step for hours: what its steps hold is what `relish memory` says
// before the first of them, and a step more takes no memory that the one before has not left.
#include "jit/jit.h"
#include "support/limits.h"
#include "support/memory.h"
#include "support/memory_reserve.h"
#include "tests/steady/counts.h"
#include "tests/unit/jit/helpers.h"
#include "tests/unit/jit/texts.h"
#include "tests/unit/temporary_folder.h"
#include "train/train.h"
#include "transform/epoch_writer.h"
#include "transform/setup_trainer.h"

using namespace relish;
using namespace relish::test;

namespace {

constexpr std::int64_t batches = 8;

struct Trained {
  TrainingProgram program;
  DataSet data;
  TrainOptions options;
};

Shape shape_of(const Type& type) {
  Shape shape;
  for (const Scalar& dim : *type.tensor()->shape) shape.push_back(*dim.as_int());
  return shape;
}

// The parameters of `main` behind the first are trained on rows of batches as the first is one.
Trained trained(const std::string& text, const std::string& loss, const std::string& optimizer) {
  const ModulePtr model = module_from("@I.ir_module\nclass M:\n    @R.function\n" + text);
  SetupTrainerOptions setup;
  setup.loss.loss.name = loss;
  setup.optimizer = parse_named_spec(optimizer);
  Module made = setup_trainer(*model, "main", setup);
  EpochOptions steps;
  steps.name = "train_steps";
  steps.each = steps.faults_last = true;
  steps.columns = {"x", "targets"};
  const Function& step = *made.function("train_step");
  Trained job;
  std::int64_t batch = 0;
  for (const Var& param : step.params) {
    if (param.name() != "x" && param.name() != "targets") continue;
    Shape shape = shape_of(param.type());
    batch = shape.front();
    shape.front() *= batches;
    const DType dtype = *param.type().tensor()->dtype;
    const bool labels = dtype == DType::Int64;
    const Tensor column = labels ? Tensor::zeros(dtype, shape) : numbers(dtype, shape);
    (param.name() == "x" ? job.data.inputs : job.data.targets).emplace_back(column);
  }
  write_epoch(made, steps);
  for (const Var& param : model->function("main")->params)
    if (param.name() != "x")
      job.options.parameters.emplace(param.name(), numbers(DType::Float32, shape_of(param.type())));
  job.program.module = std::make_shared<const Module>(std::move(made));
  job.program.steps = steps.name;
  job.program.loss = "main_loss";
  job.options.learning_rate = 1e-6;
  job.options.batch_size = batch;
  job.options.steps = 1000;
  job.options.log_every = {1000, 0};
  return job;
}

Value zeros_of(const Type& type, std::int64_t steps) {
  if (const TupleType* tuple = type.tuple()) {
    std::vector<Value> fields;
    for (const Type& field : tuple->fields) fields.push_back(zeros_of(field, steps));
    return Value::tuple(std::move(fields));
  }
  const TensorType& tensor = *type.tensor();
  Shape shape;
  for (const Scalar& dim : *tensor.shape) shape.push_back(dim.as_int().value_or(steps));
  return Tensor::zeros(*tensor.dtype, shape);
}

// Arguments of so many steps as one call; without data those are as many rows as a batch.
std::vector<Value> arguments(const Trained& job, std::int64_t steps) {
  const Function& function = *job.program.module->function(job.program.steps);
  std::vector<Value> args;
  for (const Var& param : function.params) {
    if (param.name() == "x")
      args.emplace_back(job.data.inputs.front().tensor());
    else if (param.name() == "targets")
      args.emplace_back(job.data.targets.front().tensor());
    else if (param.name() == "order")
      args.emplace_back(Tensor::zeros(DType::Int64, {steps, *job.options.batch_size}));
    else
      args.push_back(zeros_of(param.type(), steps));
  }
  return args;
}

GivenParams given_of(const Trained& job) {
  return given_params(*roles_of(*job.program.module->function(job.program.steps)));
}

Footprint planned(const Trained& job) {
  return footprint_of(job.program.module, job.program.steps, arguments(job, batches), 1, given_of(job));
}

// Behind some steps, when they go on as ever, leaves them so much memory; behind some more ends the job.
class Squeeze final : public TrainingObserver {
 public:
  Squeeze(std::int64_t arguments, double peak) : arguments_(arguments), peak_(peak) {}
  ~Squeeze() override { limits().memory_bytes = before_; }

  bool should_stop() override {
    ++asked_;
    if (asked_ == 4) {
      give_reserves_back();
      limits().memory_bytes =
          memory_held() - static_cast<std::uint64_t>(arguments_) + static_cast<std::uint64_t>(peak_);
    }
    return asked_ == 7;
  }
  std::int64_t asked() const { return asked_; }

 private:
  const std::int64_t arguments_;
  const double peak_;
  const std::uint64_t before_ = limits().memory_bytes;
  std::int64_t asked_ = 0;
};

// Whether steps go on with a share of the planned peak.
bool goes_on(const Trained& job, Evaluator& engine, const Footprint& plan, double share) {
  const relish::testing::TemporaryFolder folder;
  RunRequest request;
  request.folder.directory = folder.file("run");
  Squeeze squeeze(plan.arguments, share * static_cast<double>(plan.peak));
  TrainOptions options = job.options;
  // Nobody else holds what the steps begin with.
  for (auto& [name, tensor] : options.parameters) tensor = tensor.copy();
  try {
    train(engine, job.program, job.data, options, &request, &squeeze);
    CHECK(squeeze.asked() == 7);
    return true;
  } catch (const Failure& failure) {
    CHECK(failure.error_class() == ErrorClass::ResourceLimit);
    CHECK(squeeze.asked() >= 4);
    return false;
  }
}

void check_peak(const Trained& job) {
  const auto engine = make_jit({.threads = 1});
  const Footprint plan = planned(job);
  INFO("peak " << plan.peak << ", arguments " << plan.arguments << ", arena " << plan.arena << ", buffers "
               << plan.buffers);
  CHECK(plan.complete);
  CHECK(goes_on(job, *engine, plan, 1.05));
  CHECK_FALSE(goes_on(job, *engine, plan, 0.95));
}

Trained perceptron() {
  return trained(
      "    def main(x: R.Tensor((64, 784), \"float32\"), w0: R.Tensor((784, 128), \"float32\"), "
      "b0: R.Tensor((128,), \"float32\"), w1: R.Tensor((128, 10), \"float32\"), "
      "b1: R.Tensor((10,), \"float32\")):\n"
      "        h = R.nn.relu(R.add(R.matmul(x, w0), b0))\n"
      "        return R.add(R.matmul(h, w1), b1)\n",
      "cross_entropy", "adam(lr=0.01)");
}

}  // namespace

TEST_CASE("training of a perceptron holds what is planned", "[jit][steady]") { check_peak(perceptron()); }

TEST_CASE("training of a convolutional net holds what is planned", "[jit][steady]") {
  check_peak(trained(
      "    def main(x: R.Tensor((16, 1, 28, 28), \"float32\"), c0: R.Tensor((8, 1, 3, 3), \"float32\"), "
      "d0: R.Tensor((8, 1, 1), \"float32\"), c1: R.Tensor((16, 8, 3, 3), \"float32\"), "
      "d1: R.Tensor((16, 1, 1), \"float32\"), w0: R.Tensor((784, 64), \"float32\"), "
      "b0: R.Tensor((64,), \"float32\"), w1: R.Tensor((64, 10), \"float32\"), "
      "b1: R.Tensor((10,), \"float32\")):\n"
      "        a0 = R.nn.relu(R.add(R.nn.conv2d(x, c0, padding=[1, 1]), d0))\n"
      "        p0 = R.nn.max_pool2d(a0, pool_size=[2, 2], strides=[2, 2])\n"
      "        a1 = R.nn.relu(R.add(R.nn.conv2d(p0, c1, padding=[1, 1]), d1))\n"
      "        p1 = R.nn.max_pool2d(a1, pool_size=[2, 2], strides=[2, 2])\n"
      "        h = R.nn.relu(R.add(R.matmul(R.reshape(p1, (16, 784)), w0), b0))\n"
      "        return R.add(R.matmul(h, w1), b1)\n",
      "cross_entropy", "momentum(lr=0.01, momentum=0.9)"));
}

TEST_CASE("training of an encoder layer holds what is planned", "[jit][steady]") {
  check_peak(
      trained("    def main(x: R.Tensor((4, 32, 64), \"float32\"), g0: R.Tensor((64,), \"float32\"), "
              "e0: R.Tensor((64,), \"float32\"), wq: R.Tensor((64, 192), \"float32\"), "
              "bq: R.Tensor((192,), \"float32\"), wo: R.Tensor((64, 64), \"float32\"), "
              "wu: R.Tensor((64, 256), \"float32\"), wd: R.Tensor((256, 64), \"float32\")):\n"
              "        n = R.nn.layer_norm(x, g0, e0, axes=[-1])\n"
              "        p = R.split(R.add(R.matmul(n, wq), bq), 3, axis=-1)\n"
              "        q = R.reshape(p[0], (4, 32, 2, 32))\n"
              "        k = R.reshape(p[1], (4, 32, 2, 32))\n"
              "        v = R.reshape(p[2], (4, 32, 2, 32))\n"
              "        h = R.reshape(R.nn.attention(q, k, v), (4, 32, 64))\n"
              "        y = R.add(x, R.matmul(h, wo))\n"
              "        return R.add(y, R.matmul(R.nn.gelu(R.matmul(y, wu)), wd))\n",
              "mse", "adam(lr=0.01)"));
}

TEST_CASE("a hundred steps more take nothing, neither blocks nor small pieces", "[jit][steady]") {
  const Trained job = perceptron();
  const auto engine = make_jit({.threads = 1});
  const GivenParams given = given_of(job);
  std::uint64_t taken[2] = {};
  for (int round = 0; round < 4; ++round) {
    std::vector<Value> args = arguments(job, round % 2 == 0 ? 5 : 105);
    const std::uint64_t before = news;
    const Value result = call_giving(*engine, job.program.module, job.program.steps, std::move(args), given);
    taken[round % 2] = news - before;
  }
  CHECK(taken[0] == taken[1]);
}

namespace {

// Resident bytes when a tenth of the steps is done, and at the end.
class Watch final : public TrainingObserver {
 public:
  void on_step(const StepReport& step) override {
    if (step.step == step.total_steps / 10) early = resident_bytes();
    if (step.step == step.total_steps) end = resident_bytes();
  }
  std::uint64_t early = 0, end = 0;
};

}  // namespace

TEST_CASE("100,000 steps leave resident memory as it is", "[jit][steady]") {
  Trained job = trained(
      "    def main(x: R.Tensor((32, 16), \"float32\"), w0: R.Tensor((16, 32), \"float32\"), "
      "w1: R.Tensor((32, 4), \"float32\")):\n"
      "        return R.matmul(R.nn.relu(R.matmul(x, w0)), w1)\n",
      "cross_entropy", "adam(lr=0.0001)");
  job.options.steps = 100'000;
  const auto engine = make_jit({.threads = 1});
  const relish::testing::TemporaryFolder folder;
  RunRequest request;
  request.folder.directory = folder.file("run");
  Watch watch;
  train(*engine, job.program, job.data, job.options, &request, &watch);
  INFO("resident " << watch.early << ", at the end " << watch.end);
  CHECK(static_cast<double>(watch.end) < 1.01 * static_cast<double>(watch.early));
}
