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

TEST_CASE("hits: the first of the greatest; a row with a NaN is wrong") {
  Tensor logits = Tensor::from<float>({5, 3}, std::vector<float>{1, 2, 3,      //
                                                                 4, 4, 0,      //
                                                                 0, NAN, NAN,  //
                                                                 -1, -2, -3,   //
                                                                 0, 0, 9});
  Tensor right = Tensor::from<std::int64_t>({5}, std::vector<std::int64_t>{2, 0, 1, 0, 2});
  CHECK(count_hits(logits, right, 5, {}).hits == 4);
  CHECK(count_hits(logits, right, 4, {}).places == 4);
  Tensor wrong = Tensor::from<std::uint8_t>({5}, std::vector<std::uint8_t>{2, 1, 0, 0, 1});
  CHECK(count_hits(logits, wrong, 5, {}).hits == 2);
}

TEST_CASE("hits: classes along dimension 1, positions behind it") {
  // (n, classes, positions) = (1, 2, 3)
  Tensor logits = Tensor::from<double>({1, 2, 3}, std::vector<double>{1, 5, 1, 2, 4, 0});
  Tensor targets = Tensor::from<std::int32_t>({1, 3}, std::vector<std::int32_t>{1, 0, 1});
  Hits hits = count_hits(logits, targets, 1, {});
  CHECK(hits.places == 3);
  CHECK(hits.hits == 2);
  // The same targets as probabilities of the classes.
  Tensor shares = Tensor::from<double>({1, 2, 3}, std::vector<double>{0.1, 0.7, 0.3, 0.9, 0.3, 0.7});
  CHECK(count_hits(logits, shares, 1, {}).hits == 2);
}

TEST_CASE("hits of one column go by the threshold, whatever dtype the targets have") {
  const std::vector<float> values = {-2, -0.1f, 0.3f, 0.6f, 2, NAN};
  for (const Shape& shape : {Shape{6}, Shape{6, 1}}) {
    Tensor predictions = Tensor::from<float>(shape, values);
    for (const DType dtype : {DType::Bool, DType::UInt8, DType::Int64, DType::Float32}) {
      Tensor targets = Tensor::zeros(dtype, {6});
      for (const std::int64_t positive : {1, 3, 4, 5}) targets.set_double(positive, 1);
      CHECK(count_hits(predictions, targets, 6, {.threshold = 0}).hits == 3);
      CHECK(count_hits(predictions, targets, 6, {.threshold = 0.5}).hits == 4);
      CHECK(count_hits(predictions, targets, 6, {.threshold = 0.5}).places == 6);
      CHECK(count_hits(predictions, targets, 3, {.threshold = 0.5}).places == 3);
    }
    // Those of hinge are 1 and -1.
    Tensor signs = Tensor::from<float>({6}, std::vector<float>{-1, -1, 1, 1, -1, 1});
    CHECK(count_hits(predictions, signs, 6, {.threshold = 0}).hits == 4);
    CHECK(failure_of([&] {
            count_hits(predictions, signs, 6, {});
          }).starts_with("UsageError: accuracy: found predictions of one column"));
  }
}

TEST_CASE("rows that do not count are left out; labels out of range are no wrong answers but an error") {
  Tensor logits = Tensor::from<float>({4, 2}, std::vector<float>{1, 0, 1, 0, 0, 1, 0, 1});
  Tensor targets = Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>{0, -100, 1, 0});
  Hits hits = count_hits(logits, targets, 4, {.ignored_label = -100});
  CHECK(hits.places == 3);
  CHECK(hits.hits == 2);
  CHECK(
      failure_of([&] { count_hits(logits, targets, 4, {}); }) ==
      "DataError: accuracy: found the label -100; expected 0 to 1, or a loss with ignore_index, which leaves "
      "such rows out");
  targets.set_int(3, 2);
  CHECK(failure_of([&] { count_hits(logits, targets, 4, {.ignored_label = -100}); }) ==
        "DataError: accuracy: found the label 2; expected 0 to 1");
  targets = Tensor::from<std::int64_t>({4}, std::vector<std::int64_t>(4, 3));
  CHECK(count_hits(logits, targets, 4, {.ignored_label = 3}).places == 0);
}

TEST_CASE("what accuracy cannot judge is refused") {
  Tensor logits = Tensor::zeros(DType::Float32, {4, 3});
  CHECK(failure_of([&] { count_hits(logits, Tensor::zeros(DType::Float32, {4}), 4, {}); }) ==
        "DataError: accuracy: found predictions float32 (4, 3) and targets float32 (4,); expected floats (n, "
        "classes) and integers (n,), or floats of the predictions' shape");
  CHECK(failure_of([&] { count_hits(logits, Tensor::zeros(DType::Int64, {5}), 4, {}); }) ==
        "DataError: accuracy: found predictions float32 (4, 3) and targets int64 (5,); expected floats (n, "
        "classes) and integers (n,)");
  CHECK(failure_of([&] {
          count_hits(Tensor::zeros(DType::Float32, {4, 1}), Tensor::zeros(DType::Float32, {4, 2}), 4,
                     {.threshold = 0});
        }) ==
        "DataError: accuracy: found predictions float32 (4, 1) and targets float32 (4, 2); expected a number "
        "of "
        "one column for each row");
  CHECK(
      failure_of([&] { check_metric_names({"accuracy", "acuracy"}); }) ==
      "UsageError: unknown metric 'acuracy'; metrics are accuracy, loss, mae, mse, perplexity, r2, top_k; did you mean 'accuracy'?");
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
        "DataError: data: found 10 rows; main_loss takes batches of 16 rows");
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
  DataSet data = {{Tensor::from<std::int64_t>({6}, x)}, {Tensor::from<std::int64_t>({6}, y)}};
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
