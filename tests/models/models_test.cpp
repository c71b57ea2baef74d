// Whole models against PyTorch: each text of tests/models is read, a loss is put on it and the gradient taken
// for every parameter that is learned; results, loss and gradients of both tiers are held to the committed
// numbers, in float64 and in the float32 of the text. And what holds this test: what it must find.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>

#include "ir/operators/op.h"
#include "ir/rewriting/rewrite.h"
#include "ir/verify/verify.h"
#include "tests/models/trial.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

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
