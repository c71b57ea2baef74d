// A model that needs no engine: linear regression y = x @ w + b on float64, with its training functions
// computed in C++. The module holds only signatures; the evaluator below knows what they mean.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ir/operators/evaluator.h"
#include "support/failure.h"
#include "train/train.h"

namespace relish::testing {

inline FunctionPtr signature(std::string name, std::vector<Var> params) {
  Function function;
  function.name = std::move(name);
  function.params = std::move(params);
  // Some result; what a call gives is up to the evaluator.
  function.result = Expr(function.params.front());
  function.result_type = function.result.type();
  return std::make_shared<const Function>(std::move(function));
}

// `rows`: a literal fixes the batch, a variable leaves it open.
inline TrainingProgram linear_program(const Scalar& rows, bool with_loss = true) {
  const Type x = tensor_type({rows, Scalar(2)}, DType::Float64);
  const Type y = tensor_type({rows, Scalar(1)}, DType::Float64);
  const Type w = tensor_type({Scalar(2), Scalar(1)}, DType::Float64);
  const Type b = tensor_type({Scalar(1)}, DType::Float64);
  const Type params = TupleType{{w, b}};
  auto module = std::make_shared<Module>();
  module->name = "Linear";
  module->set(signature("main", {Var("x", x), Var("w", w), Var("b", b)}));
  module->set(signature("main_loss", {Var("x", x), Var("w", w), Var("b", b), Var("targets", y)}));
  module->set(signature("optimizer_init", {Var("params", params)}));
  Function step = *signature(
      "train_step", {Var("params", params), Var("states", TupleType{{tensor_type({}, DType::Int64)}}),
                     Var("lr", tensor_type({}, DType::Float64)), Var("x", x), Var("targets", y)});
  step.result = tuple({Expr(step.params[2]), Expr(step.params[0]), Expr(step.params[1])});
  step.result_type = step.result.type();
  step.attributes = {
      {"relish.role",
       "train_step(parameters[w, b], states, learning_rate, input, target) -> (loss, parameters, states)"}};
  module->set(std::make_shared<const Function>(std::move(step)));
  Function initial = *signature("initial_params", {Var("key", tensor_type({Scalar(2)}, DType::UInt32))});
  initial.attributes = {{"relish.role", "initial_params(key) -> parameters[w, b]"}};
  module->set(std::make_shared<const Function>(std::move(initial)));
  TrainingProgram program;
  program.module = module;
  program.initial_params = "initial_params";
  if (with_loss) program.loss = "main_loss";
  return program;
}

class LinearEvaluator : public Evaluator {
 public:
  std::string_view name() const override { return "interp"; }

  Value call(const ModulePtr&, std::string_view function, std::vector<Value> args) override {
    calls.emplace_back(function);
    if (function == "initial_params") return start(args[0].tensor());
    if (function == "optimizer_init") return Value::tuple({Tensor::scalar_int(DType::Int64, 0)});
    if (function == "main") return predict(args[0].tensor(), args[1].tensor(), args[2].tensor());
    if (function == "main_loss") {
      Tensor loss =
          mean_square(predict(args[0].tensor(), args[1].tensor(), args[2].tensor()), args[3].tensor());
      if (sums) loss.set_double(0, loss.get_double(0) * static_cast<double>(args[3].tensor().size()));
      return loss;
    }
    RELISH_CHECK(function == "train_step");
    return step(args);
  }

  std::vector<std::string> calls;
  std::vector<std::int64_t> batch_rows;  // of the steps done
  std::int64_t interrupt_in_step = 0;    // raises Interrupted inside this step
  bool sums = false;                     // main_loss is a sum over the rows

 private:
  static Value start(const Tensor& key) {
    Tensor w = Tensor::empty(DType::Float64, {2, 1});
    for (std::int64_t i = 0; i < 2; ++i) w.set_double(i, static_cast<double>(key.get_int(i)) / 0x1p32 - 0.5);
    return Value::tuple({w, Tensor::zeros(DType::Float64, {1})});
  }

  static Tensor predict(const Tensor& x, const Tensor& w, const Tensor& b) {
    Tensor result = Tensor::empty(DType::Float64, {x.shape()[0], 1});
    for (std::int64_t i = 0; i < result.size(); ++i) {
      result.set_double(i, x.get_double(2 * i) * w.get_double(0) + x.get_double(2 * i + 1) * w.get_double(1) +
                               b.get_double(0));
    }
    return result;
  }

  static Tensor mean_square(const Tensor& predictions, const Tensor& targets) {
    double sum = 0;
    for (std::int64_t i = 0; i < targets.size(); ++i) {
      double difference = predictions.get_double(i) - targets.get_double(i);
      sum += difference * difference;
    }
    return Tensor::scalar(DType::Float64, sum / static_cast<double>(targets.size()));
  }

  Value step(const std::vector<Value>& args) {
    const Tensor& w = args[0].fields()[0].tensor();
    const Tensor& b = args[0].fields()[1].tensor();
    const std::int64_t count = args[1].fields()[0].tensor().get_int(0) + 1;
    if (count == interrupt_in_step) fail(ErrorClass::Interrupted, {}, "", "stopped by SIGINT");
    const double lr = args[2].tensor().get_double(0);
    const Tensor& x = args[3].tensor();
    const Tensor& targets = args[4].tensor();
    batch_rows.push_back(x.shape()[0]);
    Tensor predictions = predict(x, w, b);
    double gradient[3] = {};
    for (std::int64_t i = 0; i < targets.size(); ++i) {
      double slope =
          2 * (predictions.get_double(i) - targets.get_double(i)) / static_cast<double>(targets.size());
      gradient[0] += slope * x.get_double(2 * i);
      gradient[1] += slope * x.get_double(2 * i + 1);
      gradient[2] += slope;
    }
    Tensor new_w = w.copy();
    Tensor new_b = b.copy();
    new_w.set_double(0, w.get_double(0) - lr * gradient[0]);
    new_w.set_double(1, w.get_double(1) - lr * gradient[1]);
    new_b.set_double(0, b.get_double(0) - lr * gradient[2]);
    return Value::tuple({mean_square(predictions, targets), Value::tuple({new_w, new_b}),
                         Value::tuple({Tensor::scalar_int(DType::Int64, count)})});
  }
};

// y = 2 x0 - 3 x1 + 0.5 without noise.
inline DataSet linear_data(std::int64_t rows) {
  Tensor x = Tensor::empty(DType::Float64, {rows, 2});
  Tensor y = Tensor::empty(DType::Float64, {rows, 1});
  for (std::int64_t i = 0; i < rows; ++i) {
    double a = std::sin(static_cast<double>(i));
    double b = std::cos(1.7 * static_cast<double>(i));
    x.set_double(2 * i, a);
    x.set_double(2 * i + 1, b);
    y.set_double(i, 2 * a - 3 * b + 0.5);
  }
  return {{x}, {y}};
}

}  // namespace relish::testing
