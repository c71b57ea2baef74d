// Accuracy by hand-made logits, and metrics over batches that do not divide the rows.
#include "train/evaluate.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/catch_failure.h"
#include "tests/unit/train/linear_model.h"

namespace relish {
namespace {

using testing::failure_of;
using testing::linear_data;
using testing::linear_program;
using testing::LinearEvaluator;

TEST_CASE("hits: the first NaN, else the first of the greatest") {
  Tensor logits = Tensor::from<float>({5, 3}, std::vector<float>{1, 2, 3,      //
                                                                 4, 4, 0,      //
                                                                 0, NAN, NAN,  //
                                                                 -1, -2, -3,   //
                                                                 0, 0, 9});
  Tensor right = Tensor::from<std::int64_t>({5}, std::vector<std::int64_t>{2, 0, 1, 0, 2});
  CHECK(count_hits(logits, right, 5).hits == 5);
  CHECK(count_hits(logits, right, 4).places == 4);
  Tensor wrong = Tensor::from<std::uint8_t>({5}, std::vector<std::uint8_t>{2, 1, 2, 0, 1});
  CHECK(count_hits(logits, wrong, 5).hits == 2);
}

TEST_CASE("hits: classes along dimension 1, positions behind it") {
  // (n, classes, positions) = (1, 2, 3)
  Tensor logits = Tensor::from<double>({1, 2, 3}, std::vector<double>{1, 5, 1, 2, 4, 0});
  Tensor targets = Tensor::from<std::int32_t>({1, 3}, std::vector<std::int32_t>{1, 0, 1});
  Hits hits = count_hits(logits, targets, 1);
  CHECK(hits.places == 3);
  CHECK(hits.hits == 2);
}

TEST_CASE("what accuracy cannot judge is refused") {
  Tensor logits = Tensor::zeros(DType::Float32, {4, 3});
  CHECK(failure_of([&] { count_hits(logits, Tensor::zeros(DType::Float32, {4}), 4); }) ==
        "DataError: accuracy: found targets of float32; expected integers");
  CHECK(failure_of([&] { count_hits(logits, Tensor::zeros(DType::Int64, {5}), 4); }) ==
        "DataError: accuracy: found logits float32 (4, 3) and targets int64 (5,); expected floats (n, "
        "classes) and "
        "integers (n,)");
  CHECK(failure_of([&] { check_metric_names({"accuracy", "acuracy"}); }) ==
        "UsageError: unknown metric 'acuracy'; did you mean 'accuracy'?");
}

TEST_CASE("the mean loss weighs batches by their rows") {
  LinearEvaluator evaluator;
  DataSet data = linear_data(10);
  TensorsByName parameters = {{"w", Tensor::from<double>({2, 1}, std::vector<double>{1, 1})},
                              {"b", Tensor::from<double>({1}, std::vector<double>{0})}};
  EvaluateOptions options;
  options.metrics = {"loss"};
  options.batch_size = 100;
  double whole =
      evaluate(evaluator, linear_program(ScalarVar("n", DType::Int64)), parameters, data, options)["loss"];
  options.batch_size = 4;
  double parts =
      evaluate(evaluator, linear_program(ScalarVar("n", DType::Int64)), parameters, data, options)["loss"];
  CHECK(parts == Approx(whole).epsilon(1e-12));
  CHECK(evaluator.calls.size() == 4);
  evaluator.sums = true;
  TrainingProgram summing = linear_program(ScalarVar("n", DType::Int64));
  summing.loss_is_sum = true;
  CHECK(evaluate(evaluator, summing, parameters, data, options)["loss"] == Approx(whole).epsilon(1e-12));
  evaluator.sums = false;

  // Batches of 3 rows by the type: the tenth row is not seen.
  double fixed = evaluate(evaluator, linear_program(Scalar(3)), parameters, data, options)["loss"];
  options.batch_size = 100;
  double nine = evaluate(evaluator, linear_program(ScalarVar("n", DType::Int64)), parameters, linear_data(9),
                         options)["loss"];
  CHECK(fixed == Approx(nine).epsilon(1e-12));
  CHECK(failure_of([&] { evaluate(evaluator, linear_program(Scalar(16)), parameters, data, options); }) ==
        "DataError: loss: found 10 rows; main_loss takes batches of 16");
}

// Returns one-hot logits for class `x % 3`.
class ModuloEvaluator : public Evaluator {
 public:
  std::string_view name() const override { return "interp"; }
  Value call(const ModulePtr&, std::string_view, std::vector<Value> args) override {
    const Tensor& x = args[0].tensor();
    CHECK(x.shape()[0] == 4);
    Tensor logits = Tensor::zeros(DType::Float32, {x.shape()[0], 3});
    for (std::int64_t i = 0; i < x.size(); ++i) logits.set_double(3 * i + x.get_int(i) % 3, 1);
    return Value::tuple({logits, x});
  }
};

TEST_CASE("a function of fixed batches judges every row, the last batch being filled up") {
  auto module = std::make_shared<Module>();
  module->set(testing::signature("main", {Var("x", tensor_type({Scalar(4)}, DType::Int64))}));
  TrainingProgram program;
  program.module = module;
  std::vector<std::int64_t> x = {0, 1, 2, 3, 4, 5};
  std::vector<std::int64_t> y = {0, 1, 2, 0, 1, 0};
  DataSet data = {{Tensor::from<std::int64_t>({6}, x)}, Tensor::from<std::int64_t>({6}, y)};
  EvaluateOptions options;
  options.metrics = {"accuracy"};
  ModuloEvaluator evaluator;
  CHECK(evaluate(evaluator, program, {}, data, options)["accuracy"] == 5.0 / 6);
  options.metrics = {"loss"};
  CHECK(failure_of([&] { evaluate(evaluator, program, {}, data, options); }) ==
        "UsageError: metric 'loss' needs a loss function, and none is given");
}

}  // namespace
}  // namespace relish
