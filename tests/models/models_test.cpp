// Whole models against PyTorch: each text of tests/models is read, a loss is put on it and the gradient taken
// for every parameter that is learned; results, loss and gradients of both tiers are held to the committed
// numbers (tests/numbers/models.py), in float64 and in the float32 of the text.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "frontend/reader.h"
#include "interp/interpreter.h"
#include "ir/op.h"
#include "ir/rewrite.h"
#include "ir/verify.h"
#include "jit/jit.h"
#include "runtime/files.h"
#include "shell/session.h"
#include "tests/golden/tolerance.h"
#include "transform/append_loss.h"
#include "transform/gradient.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

struct Model {
  std::string name;  // the folder with the numbers
  std::string text;
  std::string loss;
};

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

Tensor converted(const Tensor& tensor, DType dtype) {
  if (!is_float(tensor.dtype())) return tensor;
  Tensor result = Tensor::empty(dtype, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

// What PyTorch says, rounded to the dtype: "loss", the results in their order, "gradient.NAME" in that of the
// parameters.
NamedTensors expected_of(const std::string& name, DType dtype) {
  NamedTensors expected = read_npz(fmt::format("tests/models/{}/expect.npz", name));
  for (auto& [key, tensor] : expected) tensor = converted(tensor, dtype);
  return expected;
}

// A model with its loss and the adjoint of that, at one dtype, and the arguments of both.
struct Trial {
  ModulePtr module;  // main, main_loss, main_loss_adjoint
  std::vector<Value> inputs;
  Tensor targets;
  std::vector<std::string> learned;
};

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

std::vector<Value> fields_of(const Value& value) {
  return value.is_tuple() ? value.fields() : std::vector<Value>{value};
}

// What one tier gives, under the names of the expected numbers: the loss by the adjoint, the results by the
// model as it was read, the gradients. The results that the adjoint gives behind the loss, all but the
// predictions, must be the same.
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

// One line for each tensor that is not as expected.
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

}  // namespace

namespace {

const Model& model_of_text(std::string_view text) {
  return *std::find_if(models().begin(), models().end(),
                       [&](const Model& each) { return each.text == text; });
}

void check_models(DType dtype) {
  for (const Model& model : models()) {
    INFO(model.name << "/" << model.text << " " << name_of(dtype));
    const Trial trial = trial_of(model, dtype);
    const NamedTensors expected = expected_of(model.name, dtype);
    std::vector<NamedTensors> found;
    for (Evaluator* engine : {&interpreter(), &compiled(1), &compiled(2)}) {
      INFO(engine->name());
      found.push_back(found_by(*engine, trial, expected));
      CHECK(disagreements(found.back(), expected) == std::vector<std::string>{});
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(expected[i].first << " on one and two threads");
      CHECK(identical(found[1][i].second, found[2][i].second));
    }
  }
}

}  // namespace

TEST_CASE("models have PyTorch's results and gradients in both tiers, in float64", "[models]") {
  check_models(DType::Float64);
}

TEST_CASE("models have PyTorch's results and gradients in both tiers, in float32", "[models][float32]") {
  check_models(DType::Float32);
}

TEST_CASE("every parameter of a model is learned or a running value", "[models]") {
  for (const Model& model : models()) {
    INFO(model.name << "/" << model.text);
    const Trial trial = trial_of(model, DType::Float64);
    std::vector<std::string> wanted;
    for (const Var& param : trial.module->function("main")->params) {
      const bool floating = is_float(*param.type().tensor()->dtype);
      if (floating && !param.name().starts_with("running_")) wanted.push_back("gradient." + param.name());
    }
    std::vector<std::string> committed;
    for (const auto& entry : expected_of(model.name, DType::Float64))
      if (entry.first.starts_with("gradient.")) committed.push_back(entry.first);
    CHECK(committed == wanted);
  }
}

// A model and its loss become loops altogether, which the compiled tier translates.
TEST_CASE("adjoints of models legalize without an operator left", "[models]") {
  for (const Model& model : models()) {
    INFO(model.name << "/" << model.text);
    const Module lowered = legalize(*trial_of(model, DType::Float32).module, UnknownShapes::Refused);
    Diagnostics diagnostics;
    verify(lowered, diagnostics);
    CHECK(!diagnostics.has_errors());
    int loops = 0;
    for_each_expr(*lowered.function("main_loss_adjoint"), [&](const Expr& expr) {
      if (const auto* call = expr.as<OpCall>()) FAIL_CHECK("R." << call->op->name << " is left");
      if (expr.as<CallTir>()) ++loops;
    });
    CHECK(loops > 10);
  }
}

TEST_CASE("one number that differs in the ninth place is found, whichever it is", "[models]") {
  for (const Model& model : models()) {
    const Trial trial = trial_of(model, DType::Float64);
    const NamedTensors expected = expected_of(model.name, DType::Float64);
    const NamedTensors found = found_by(interpreter(), trial, expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(model.text << ": " << expected[i].first);
      NamedTensors changed = expected;
      Tensor tensor = expected[i].second.copy();
      const std::int64_t at = tensor.size() / 2;
      const double value = tensor.get_double(at);
      tensor.set_double(at, value * (1 + 1e-9) + (value < 0 ? -1e-11 : 1e-11));
      changed[i].second = tensor;
      const std::vector<std::string> lines = disagreements(found, changed);
      REQUIRE(lines.size() == 1);
      CHECK(lines[0].starts_with(expected[i].first + ": at ["));
    }
    NamedTensors shorter = expected;
    shorter.pop_back();
    CHECK(disagreements(found, shorter) ==
          std::vector<std::string>{expected.back().first + ": expected nothing"});
  }
}

// Each change is one that a reader of the text could overlook; `differing` are the numbers that it must show
// in.
TEST_CASE("a model that differs in one attribute is found", "[models]") {
  struct Change {
    std::string text, from, to;
    std::vector<std::string> differing;
    bool only = false;  // and in nothing else
  };
  const std::vector<Change> changes = {
      {"convnet.relish", "momentum=0.3", "momentum=0.1", {"mean1", "var1"}, true},
      {"convnet.relish",
       "axis=1, momentum=0.1",
       "axis=1, epsilon=0.0001, momentum=0.1",
       {"loss", "gradient.conv0"}},
      {"convnet.relish", "count_include_pad=False", "count_include_pad=True", {"logits", "gradient.weight"}},
      {"lstm.relish", "steps[4]", "steps[3]", {"loss", "last_c", "gradient.x"}},
      {"lstm.relish", "R.tanh(new_c)", "R.sigmoid(new_c)", {"last_h", "gradient.w_hidden"}},
      {"transformer.relish", "causal_mask=\"TopLeft\"", "causal_mask=None", {"logits", "gradient.w_qkv"}},
      {"transformer.relish", "R.nn.gelu(", "R.nn.gelu_tanh(", {"loss", "gradient.w_up"}},
      {"written_out.relish", "R.tril(", "R.triu(", {"logits", "gradient.embedding"}},
      {"separable.relish", "[1, 0, 0, 1]", "[0, 1, 1, 0]", {"logits", "gradient.grouped"}},
      {"separable.relish", "relu6", "relu", {"loss", "gradient.stem"}},
      {"unet.relish", "alpha=0.1", "alpha=0.11", {"logits", "gradient.down0"}},
      {"unet.relish", "num_groups=2", "num_groups=4", {"loss", "gradient.gamma"}},
  };
  for (const Change& change : changes) {
    INFO(change.text << ": " << change.to);
    const Model& model = model_of_text(change.text);
    const std::string text = text_of(model);
    REQUIRE(text.find(change.from) != std::string::npos);
    const NamedTensors expected = expected_of(model.name, DType::Float64);
    const Trial trial = trial_of(model, replaced(text, change.from, change.to), DType::Float64);
    std::vector<std::string> differing;
    for (const std::string& line : disagreements(found_by(interpreter(), trial, expected), expected))
      differing.push_back(line.substr(0, line.find(':')));
    if (change.only) CHECK(differing == change.differing);
    for (const std::string& name : change.differing) {
      INFO(name);
      CHECK(std::find(differing.begin(), differing.end(), name) != differing.end());
    }
  }
}

}  // namespace relish::testing
