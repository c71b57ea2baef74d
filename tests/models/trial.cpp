// Reading of models, and their runs.
#include "tests/models/trial.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "frontend/reader.h"
#include "interp/interpreter.h"
#include "jit/jit.h"
#include "shell/session.h"
#include "tests/golden/tolerance.h"
#include "transform/append_loss.h"
#include "transform/gradient.h"

namespace relish::testing {
namespace {

Tensor converted(const Tensor& tensor, DType dtype) {
  if (!is_float(tensor.dtype())) return tensor;
  Tensor result = Tensor::empty(dtype, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

std::vector<Value> fields_of(const Value& value) {
  return value.is_tuple() ? value.fields() : std::vector<Value>{value};
}

}  // namespace

const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"mlp", "mlp.relish", "cross_entropy"},
      {"convnet", "convnet.relish", "cross_entropy"},
      {"lstm", "lstm.relish", "mse"},
      {"transformer", "transformer.relish", "cross_entropy"},
      {"transformer", "written_out.relish", "cross_entropy"},
      {"separable", "separable.relish", "cross_entropy(label_smoothing=0.1)"},
      {"unet", "unet.relish", "binary_cross_entropy_with_logits"},
  };
  return all;
}

std::string text_of(const Model& model) {
  std::ifstream file(fmt::format("tests/models/{}/{}", model.name, model.text));
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

NamedTensors expected_of(const std::string& name, DType dtype) {
  NamedTensors expected = read_npz(fmt::format("tests/models/{}/expect.npz", name));
  for (auto& [key, tensor] : expected) tensor = converted(tensor, dtype);
  return expected;
}

Trial trial_of(const Model& model, const std::string& text, DType dtype) {
  start_language();
  const std::string folder = "tests/models/" + model.name;
  const ModulePtr read = read_module(
      model.text,
      dtype == DType::Float32 ? text : replaced(text, "\"float32\"", fmt::format("\"{}\"", name_of(dtype))));
  Trial trial;
  NamedTensors inputs = read_npz(folder + "/params.npz");
  const FunctionPtr main = read->function("main");
  REQUIRE(main->params.size() == inputs.size() + 1);
  inputs.insert(inputs.begin(), {main->params.front().name(), read_npy(folder + "/x.npy")});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& [name, tensor] = inputs[i];
    REQUIRE(main->params[i].name() == name);
    trial.inputs.emplace_back(converted(tensor, dtype));
    if (is_float(tensor.dtype()) && !name.starts_with("running_")) trial.learned.push_back(name);
  }
  trial.targets = converted(read_npy(folder + "/targets.npy"), dtype);
  AppendLossOptions loss;
  loss.loss = parse_named_spec(model.loss);
  GradientOptions wanted;
  wanted.wrt = trial.learned;
  trial.module =
      std::make_shared<const Module>(gradient(append_loss(*read, "main", loss), "main_loss", wanted));
  return trial;
}

Trial trial_of(const Model& model, DType dtype) { return trial_of(model, text_of(model), dtype); }

NamedTensors found_by(Evaluator& engine, const Trial& trial, const NamedTensors& expected) {
  std::vector<Value> args = trial.inputs;
  args.emplace_back(trial.targets);
  const Value adjoint = engine.call(trial.module, "main_loss_adjoint", args);
  const std::vector<Value> losses = fields_of(adjoint.fields().at(0));
  const std::vector<Value> results = fields_of(engine.call(trial.module, "main", trial.inputs));
  const std::vector<Value>& gradients = adjoint.fields().at(1).fields();
  REQUIRE(losses.size() == results.size());
  REQUIRE(gradients.size() == trial.learned.size());
  REQUIRE(1 + results.size() + gradients.size() == expected.size());
  NamedTensors found = {{"loss", losses[0].tensor()}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    found.emplace_back(expected[i + 1].first, results[i].tensor());
    if (i > 0) CHECK(disagreement(losses[i], results[i], class_of_models) == "");
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    found.emplace_back("gradient." + trial.learned[i], gradients[i].tensor());
  return found;
}

std::vector<std::string> disagreements(const NamedTensors& found, const NamedTensors& expected) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
    if (i >= found.size() || i >= expected.size() || found[i].first != expected[i].first) {
      lines.push_back(fmt::format("{}: expected {}", i < found.size() ? found[i].first : "nothing",
                                  i < expected.size() ? expected[i].first : "nothing"));
      continue;
    }
    const std::string difference = disagreement(found[i].second, expected[i].second, class_of_models);
    if (!difference.empty()) lines.push_back(found[i].first + ": " + difference);
  }
  return lines;
}

Evaluator& interpreter() {
  static const std::unique_ptr<Evaluator> engine = make_interpreter();
  return *engine;
}

Evaluator& compiled(int threads) {
  static const std::unique_ptr<Evaluator> one = make_jit({.threads = 1});
  static const std::unique_ptr<Evaluator> two = on_threads(*one, 2);
  return threads == 1 ? *one : *two;
}

const Model& model_of_text(std::string_view text) {
  return *std::find_if(models().begin(), models().end(),
                       [&](const Model& each) { return each.text == text; });
}

}  // namespace relish::testing
