// Steps that one call does: as soon as something has moved they are many, and they end with the same bytes.
#include <catch2/catch.hpp>

#include "runtime/files.h"
#include "tests/unit/train/linear_model.h"
#include "train/many_steps.h"

namespace relish {
namespace {

using testing::linear_data;
using testing::LinearEvaluator;

// The linear model with its steps as a function of many.
TrainingProgram program_of_many() {
  const ScalarVar n("n", DType::Int64), steps("steps", DType::Int64), batch("batch", DType::Int64);
  TrainingProgram program = testing::linear_program(n);
  Module module = *program.module;
  const Function& step = *module.function("train_step");
  Function many = *testing::signature(
      "train_steps",
      {step.params[0], step.params[1], Var("rates", tensor_type({Scalar(steps)}, DType::Float64)),
       step.params[3], step.params[4],
       Var("order", tensor_type({Scalar(steps), Scalar(batch)}, DType::Int64))});
  many.result =
      tuple({Expr(many.params[2]), Expr(many.params[2]), Expr(many.params[0]), Expr(many.params[1])});
  many.result_type = many.result.type();
  many.attributes = {
      {"relish.role",
       "train_steps(parameters[w, b], states, learning_rates, input, target, order) -> (losses, "
       "faults, parameters, states)"}};
  module.set(std::make_shared<const Function>(std::move(many)));
  program.module = std::make_shared<const Module>(std::move(module));
  program.steps = "train_steps";
  return program;
}

class ManyEvaluator : public LinearEvaluator {
 public:
  void prepare(const ModulePtr&, std::string_view, std::span<const Value>) override {}
  Value call(const ModulePtr& module, std::string_view function, std::vector<Value> args) override {
    if (function != "train_steps") return LinearEvaluator::call(module, function, std::move(args));
    const Tensor& rates = args[2].tensor();
    const Tensor& order = args[5].tensor();
    done.push_back(rates.size());
    Tensor losses = Tensor::empty(DType::Float64, {rates.size()});
    Value params = args[0], states = args[1];
    for (std::int64_t i = 0; i < rates.size(); ++i) {
      std::vector<std::int64_t> rows;
      for (std::int64_t j = 0; j < order.shape()[1]; ++j)
        rows.push_back(order.get_int(i * order.shape()[1] + j));
      const Value one =
          LinearEvaluator::call(module, "train_step",
                                {params, states, Tensor::scalar(DType::Float64, rates.get_double(i)),
                                 gather_rows(args[3].tensor(), rows), gather_rows(args[4].tensor(), rows)});
      losses.set_double(i, one.fields()[0].tensor().get_double(0));
      params = one.fields()[1];
      states = one.fields()[2];
    }
    return Value::tuple({losses, Tensor::zeros(DType::Float64, {rates.size()}), params, states});
  }
  std::vector<std::int64_t> done;  // steps of each call
};

}  // namespace

TEST_CASE("steps are done many by one call as soon as something has moved") {
  TrainOptions options;
  options.batch_size = 4;
  options.epochs = 20;
  options.learning_rate = 0.1;
  LinearEvaluator alone;
  ManyEvaluator many;
  const TrainResult one_by_one =
      train(alone, testing::linear_program(ScalarVar("n", DType::Int64)), linear_data(40), options);
  const TrainResult at_once = train(many, program_of_many(), linear_data(40), options);
  CHECK(at_once.steps == 200);
  CHECK(at_once.loss == one_by_one.loss);
  CHECK(at_once.epoch_loss == one_by_one.epoch_loss);
  for (std::size_t i = 0; i < at_once.parameters.size(); ++i)
    CHECK(identical(at_once.parameters[i].second, one_by_one.parameters[i].second));
  REQUIRE(many.done.size() > 1);
  CHECK(many.done[0] == 1);
  CHECK(many.done.size() < 60);
  // Where nothing moves each step is looked at.
  many.done.clear();
  options.learning_rate = 0;
  options.epochs = 1;
  train(many, program_of_many(), linear_data(40), options);
  CHECK(many.done.size() == 10);
}

TEST_CASE("what the batches of a step count is their rows, or the labels that do") {
  TrainingProgram program;
  program.judgement.ignored_label = -100;
  const Tensor labels = Tensor::from<std::int64_t>({6}, std::vector<std::int64_t>{0, -100, 1, -100, -100, 2});
  const auto order = [](std::vector<std::int64_t> rows) {
    return Tensor::from<std::int64_t>({1, 2, 2}, rows);
  };
  const auto weights = weights_of_parts(program, DType::Float64, labels, order({0, 1, 2, 5}));
  REQUIRE(weights);
  CHECK(weights->weights == std::vector<std::vector<double>>{{1, 2}});
  CHECK(weights->totals == std::vector<double>{3});
  CHECK(weights->tensor.get_double(2) == 3);
  const Tensor losses = Tensor::from<double>({2}, std::vector<double>{6, 3});
  CHECK(weights->joined(losses).get_double(0) == 4);
  CHECK_FALSE(weights_of_parts(program, DType::Float64, labels, order({0, 1, 3, 4})));
  program.loss_is_sum = true;
  CHECK(weights_of_parts(program, DType::Float64, labels, order({0, 1, 3, 4}))->totals ==
        std::vector<double>{1});
}

}  // namespace relish
