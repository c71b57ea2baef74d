// The numbers of whole models in other forms of the same model: as loops, printed and read again, spelled in
// other words, in half types.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "frontend/reader.h"
#include "ir/printer/printer.h"
#include "tests/golden/tolerance.h"
#include "tests/models/trial.h"
#include "transform/legalize.h"

namespace relish::testing {
TEST_CASE("adjoints of models give the same numbers as loops, interpreted", "[models]") {
  for (const Model& model : models()) {
    INFO(model.name << "/" << model.text);
    Trial trial = trial_of(model, DType::Float64);
    const NamedTensors expected = expected_of(model.name, DType::Float64);
    trial.module = std::make_shared<const Module>(legalize(*trial.module));
    CHECK(disagreements(found_by(interpreter(), trial, expected), expected) == std::vector<std::string>{});
  }
}

TEST_CASE("adjoints of models printed and read again are the same", "[models]") {
  for (const Model& model : models()) {
    Trial trial = trial_of(model, DType::Float32);
    const NamedTensors expected = expected_of(model.name, DType::Float32);
    const NamedTensors before = found_by(interpreter(), trial, expected);
    for (const Dialect dialect : {Dialect::D026, Dialect::D2023, Dialect::D2022}) {
      INFO(model.name << "/" << model.text << " " << static_cast<int>(dialect));
      PrintOptions options;
      options.dialect = dialect;
      trial.module = read_module("again.relish", print(*trial.module, options));
      const NamedTensors after = found_by(interpreter(), trial, expected);
      for (std::size_t i = 0; i < before.size(); ++i) CHECK(identical(after[i].second, before[i].second));
    }
  }
}

namespace {

// The same model in other words: PyTorch's numbers are its own too.
struct Spelling {
  std::string text, of;  // `of`: what is changed
  std::vector<std::pair<std::string, std::string>> changes;
};

const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> all = {
      {"convnet.relish",
       "any number of rows",
       {{"R.Tensor((4, ", "R.Tensor((\"n\", "}, {"[4, 48]", "[-1, 48]"}}},
      {"convnet.relish",
       "channels last",
       {{"R.nn.conv2d(x, conv0, strides=[2, 2], padding=[1, 1])",
         "R.nn.conv2d(R.permute_dims(x, [0, 2, 3, 1]), conv0, strides=[2, 2], padding=[1, 1], "
         "data_layout=\"NHWC\")"},
        {"running_var0, axis=1", "running_var0, axis=3"},
        {"R.nn.max_pool2d(a0, ", "R.nn.max_pool2d(a0, layout=\"NHWC\", "},
        {"R.nn.conv2d(p0, conv1, ",
         "R.nn.conv2d(p0, R.permute_dims(conv1, [2, 3, 1, 0]), kernel_layout=\"HWIO\", "
         "data_layout=\"NHWC\", out_layout=\"NCHW\", "}}},
      {"lstm.relish", "any number of rows", {{"R.Tensor((3, ", "R.Tensor((\"n\", "}}},
      {"transformer.relish",
       "any number of rows",
       {{"R.Tensor((2, 6)", "R.Tensor((\"n\", 6)"},
        {"-> R.Tensor((2, ", "-> R.Tensor((\"n\", "},
        {"[2, 6", "[-1, 6"}}},
      {"written_out.relish",
       "any number of rows",
       {{"R.Tensor((2, 6)", "R.Tensor((\"n\", 6)"},
        {"-> R.Tensor((2, ", "-> R.Tensor((\"n\", "},
        {"[2, 6", "[-1, 6"}}},
      {"separable.relish", "any size", {{"10, 10", "\"h\", \"w\""}}},
      {"unet.relish", "any number of rows", {{"R.Tensor((2, ", "R.Tensor((\"n\", "}}},
      {"unet.relish", "any size", {{"R.Tensor((2, 1, 16, 16)", "R.Tensor((\"n\", 1, \"h\", \"w\")"}}},
  };
  return all;
}

Trial trial_of(const Spelling& spelling) {
  const Model& model = model_of_text(spelling.text);
  std::string text = text_of(model);
  for (const auto& [from, to] : spelling.changes) {
    REQUIRE(text.find(from) != std::string::npos);
    text = replaced(text, from, to);
  }
  return trial_of(model, text, DType::Float64);
}

void check_spelling(const Spelling& spelling, Evaluator& engine) {
  INFO(spelling.text << ": " << spelling.of << ", " << engine.name());
  const NamedTensors expected = expected_of(model_of_text(spelling.text).name, DType::Float64);
  const Trial trial = trial_of(spelling);
  CHECK(disagreements(found_by(engine, trial, expected), expected) == std::vector<std::string>{});
}

// Numbers in [-1, 1] without a short period.
Tensor wave(const Shape& shape) {
  Tensor result = Tensor::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.set_double(i, std::sin(0.7 * static_cast<double>(i) + 1e-4 * static_cast<double>(i * i % 9973)));
  return result;
}

}  // namespace

TEST_CASE("models have the same numbers in other words", "[models]") {
  for (const Spelling& spelling : spellings()) check_spelling(spelling, interpreter());
}

TEST_CASE("models have the same numbers in other words, compiled", "[.full]") {
  for (const Spelling& spelling : spellings()) check_spelling(spelling, compiled(2));
}

// Images of 64 x 48: loops that are long enough to be divided between threads.
TEST_CASE("models of any size agree in both tiers where work is divided", "[.full]") {
  for (const Spelling& spelling : spellings()) {
    if (spelling.of != "any size") continue;
    INFO(spelling.text);
    Trial trial = trial_of(spelling);
    const Tensor& given = trial.inputs[0].tensor();
    const bool pixels = trial.targets.rank() == 4;  // a target for each pixel, else for each image
    trial.inputs[0] = wave({6, given.shape()[1], 64, 48});
    trial.targets = pixels ? Tensor::zeros(DType::Float64, {6, 1, 64, 48}) : Tensor::zeros(DType::Int64, {6});
    const NamedTensors names = expected_of(model_of_text(spelling.text).name, DType::Float64);
    const NamedTensors interpreted = found_by(interpreter(), trial, names);
    const NamedTensors one = found_by(compiled(1), trial, names), two = found_by(compiled(2), trial, names);
    CHECK(disagreements(one, interpreted) == std::vector<std::string>{});
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(identical(one[i].second, two[i].second));
  }
}

// 9 rows become 4 on the way down and 8 on the way up.
TEST_CASE("a U-Net of any size refuses an image that its levels do not divide, in both tiers", "[models]") {
  for (const Spelling& spelling : spellings()) {
    if (spelling.text != "unet.relish" || spelling.of != "any size") continue;
    Trial trial = trial_of(spelling);
    trial.inputs[0] = wave({2, 1, 18, 16});
    for (Evaluator* engine : {&interpreter(), &compiled(1)}) {
      INFO(engine->name());
      try {
        engine->call(trial.module, "main", trial.inputs);
        FAIL_CHECK("nothing was refused");
      } catch (const Failure& failure) {
        const Diagnostic& first = failure.diagnostics().front();
        CHECK(first.error_class == ErrorClass::Runtime);
        CHECK(first.message.find("concat: dimension 2 of the tensors") != std::string::npos);
        const SourceFile* source = Sources::instance().find(first.span.file);
        REQUIRE(source);
        const std::string_view line = source->line(source->position(first.span.begin).line);
        CHECK(line == "            j1 = R.concat((skip1, u1), axis=1)");
      }
    }
  }
}

// Roundings of 16 bits add up to more than small elements hold, so the class is taken of the largest element;
// and they choose other cells in max pools and rectifiers, so gradients are compared between the tiers.
TEST_CASE("models in half types have PyTorch's results, and the tiers the same gradients", "[.full]") {
  for (const Model& model : models()) {
    for (const DType dtype : {DType::Float16, DType::BFloat16}) {
      INFO(model.name << "/" << model.text << " " << name_of(dtype));
      const Trial trial = trial_of(model, dtype);
      const NamedTensors expected = expected_of(model.name, dtype);
      const NamedTensors interpreted = found_by(interpreter(), trial, expected);
      const NamedTensors native = found_by(compiled(1), trial, expected);
      const auto near = [&](const Tensor& actual, const Tensor& wanted) {
        double largest = 0;
        for (std::int64_t k = 0; k < wanted.size(); ++k)
          largest = std::max(largest, std::abs(wanted.get_double(k)));
        return disagreement(actual, wanted, Closeness{0, closeness(class_of_models, dtype).rtol * largest});
      };
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(expected[i].first);
        CHECK(near(native[i].second, interpreted[i].second) == "");
        if (expected[i].first.starts_with("gradient.")) continue;
        CHECK(near(interpreted[i].second, expected[i].second) == "");
      }
    }
  }
}

}  // namespace relish::testing
