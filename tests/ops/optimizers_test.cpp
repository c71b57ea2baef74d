// The optimizers of the standard library over 100 steps against transcripts of PyTorch and NumPy
// (tests/numbers/optimizers), in both tiers.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "frontend/reader.h"
#include "ir/calls/entry.h"
#include "shell/session.h"
#include "stdlib/catalog.h"
#include "support/failure.h"
#include "tests/ops/operator_case.h"
#include "tests/unit/stdlib/numbers_file.h"
#include "transform/setup_trainer.h"

using namespace relish;
using namespace relish::testing;

namespace {

constexpr double step_rtol_wide = 1e-10;
constexpr double step_rtol_narrow = 1e-4;

nlohmann::json document(const std::string& name) {
  std::ifstream file(std::filesystem::path(RELISH_SOURCE_DIR) / "tests/numbers/optimizers" /
                     (name + ".json"));
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

Tensor in_dtype(const Tensor& tensor, DType dtype) {
  Tensor result = Tensor::empty(dtype, tensor.shape());
  for (std::int64_t i = 0; i < tensor.size(); ++i) result.set_double(i, tensor.get_double(i));
  return result;
}

std::vector<Tensor> tensors_of(const nlohmann::json& list, DType dtype) {
  std::vector<Tensor> tensors;
  for (const auto& json : list) tensors.push_back(in_dtype(tensor_of(json), dtype));
  return tensors;
}

Value tuple_of(const std::vector<Tensor>& tensors) {
  return Value::tuple(std::vector<Value>(tensors.begin(), tensors.end()));
}

ModulePtr optimizer_module(const std::string& spec, const std::vector<Tensor>& params) {
  start_language();
  std::vector<Type> types;
  std::vector<std::string> names;
  for (const Tensor& param : params) {
    types.push_back(type_of(Value(param)));
    names.push_back("w" + std::to_string(names.size()));
  }
  Module empty;
  empty.name = "M";
  return std::make_shared<const Module>(add_optimizer(empty, parse_named_spec(spec), types, names));
}

void check_params(const Value& found, const nlohmann::json& expect, double tolerance) {
  for (std::size_t i = 0; i < expect.size(); ++i)
    CHECK(difference(found.fields()[i].tensor(), tensor_of(expect[i]), tolerance, tolerance * 1e-2) == "");
}

}  // namespace

TEST_CASE("optimizers take the steps of PyTorch, in both tiers", "[optimizers]") {
  const nlohmann::json inputs = document("inputs");
  for (const OptimizerEntry& optimizer : optimizer_entries()) {
    const nlohmann::json numbers = document(std::string(optimizer.name));
    for (const auto& one : numbers.at("cases")) {
      const DType dtype = *dtype_from_name(one.at("dtype").get<std::string>());
      const std::string spec = one.at("spec");
      const std::vector<Tensor> start = tensors_of(inputs.at("params"), dtype);
      const ModulePtr module = optimizer_module(spec, start);
      std::map<std::int64_t, nlohmann::json> kept;
      for (const auto& step : one.at("steps"))
        kept.emplace(step.at("step").get<std::int64_t>(), step.at("params"));
      CHECK(kept.contains(100));
      for (Evaluator* engine : {&interpreter(), &jit(1)}) {
        INFO(spec << " " << name_of(dtype) << " " << engine->name());
        Value params = tuple_of(start);
        Value states = engine->call(module, "optimizer_init", {params});
        for (std::int64_t step = 1; step <= 100; ++step) {
          const auto index = static_cast<std::size_t>(step - 1);
          const Value gradients = tuple_of(tensors_of(inputs.at("gradients")[index], dtype));
          const Value rate = Tensor::scalar(dtype, inputs.at("rates")[index].get<double>());
          const Value result = engine->call(module, "optimizer", {params, gradients, states, rate});
          params = result.fields()[0];
          states = result.fields()[1];
          INFO("step " << step);
          if (const auto found = kept.find(step); found != kept.end())
            check_params(params, found->second, dtype == DType::Float64 ? step_rtol_wide : step_rtol_narrow);
        }
        CHECK(states.fields()[0].tensor().get_int(0) == 100);
      }
    }
  }
}

TEST_CASE("whole steps of training are those of PyTorch, in both tiers", "[optimizers]") {
  start_language();
  const nlohmann::json numbers = document("training");
  const ModulePtr model = read_module(
      "test.relish",
      "@I.ir_module\nclass M:\n    @R.function\n"
      "    def main(x: R.Tensor((\"n\", 4), \"float64\"), w0: R.Tensor((4, 5), \"float64\"), b0: "
      "R.Tensor((5,), "
      "\"float64\"), w1: R.Tensor((5, 3), \"float64\"), b1: R.Tensor((3,), \"float64\")):\n"
      "        h = R.sigmoid(R.add(R.matmul(x, w0), b0))\n        return R.add(R.matmul(h, w1), b1)\n");
  const Value x = tensor_of(numbers.at("x")), targets = tensor_of(numbers.at("targets"));
  for (const auto& one : numbers.at("cases")) {
    SetupTrainerOptions options;
    options.loss.loss = parse_named_spec(one.at("loss").get<std::string>());
    options.optimizer = parse_named_spec(one.at("optimizer").get<std::string>());
    const auto module = std::make_shared<const Module>(setup_trainer(*model, "main", options));
    const double rate = *find_attribute(options.optimizer.spec.options, "lr")->as<double>();
    const Value lr = Tensor::scalar(DType::Float64, rate);
    for (Evaluator* engine : {&interpreter(), &jit(1)}) {
      INFO(one.at("optimizer") << " " << engine->name());
      Value params = tuple_of(tensors_of(numbers.at("start"), DType::Float64));
      Value states = engine->call(module, "optimizer_init", {params});
      for (const auto& loss : one.at("losses")) {
        const Value result = engine->call(module, "train_step", {params, states, lr, x, targets});
        CHECK(result.fields()[0].tensor().get_double(0) ==
              Approx(loss.get<double>()).epsilon(step_rtol_wide));
        params = result.fields()[1];
        states = result.fields()[2];
      }
      check_params(params, one.at("params"), step_rtol_wide);
    }
  }
}

TEST_CASE("every optimizer has a transcript with each of its options", "[optimizers]") {
  for (const OptimizerEntry& optimizer : optimizer_entries()) {
    INFO(optimizer.name);
    std::string specs;
    const nlohmann::json numbers = document(std::string(optimizer.name));
    for (const auto& one : numbers.at("cases")) specs += one.at("spec").get<std::string>() + "\n";
    for (const CatalogOption& option : optimizer.options) {
      const bool common =
          option.name == "clip_value" || option.name == "clip_norm" || option.use == OptionUse::Compat;
      INFO(option.name);
      CHECK((common || specs.find(std::string(option.name) + "=") != std::string::npos));
    }
  }
}

TEST_CASE("states have the layout of the catalog, then one of each kind for every parameter",
          "[optimizers]") {
  const std::vector<Tensor> params = {Tensor::zeros(DType::Float32, {3, 2}),
                                      Tensor::zeros(DType::Float32, {4})};
  const auto shapes = [&](const char* spec) {
    std::string text;
    const Value states =
        interpreter().call(optimizer_module(spec, params), "optimizer_init", {tuple_of(params)});
    for (const Value& state : states.fields())
      text += fmt::format("{}({}) ", name_of(state.tensor().dtype()), fmt::join(state.tensor().shape(), ","));
    return text;
  };
  CHECK(shapes("sgd(lr=1)") == "int64() ");
  CHECK(shapes("momentum(lr=1, momentum=0.9)") == "int64() float32(3,2) float32(4) ");
  CHECK(shapes("adam(lr=1)") ==
        "int64() float32() float32() float32(3,2) float32(4) float32(3,2) float32(4) ");
  CHECK(shapes("rmsprop(lr=1)") == "int64() float32(3,2) float32(4) ");
  CHECK(shapes("rmsprop(lr=1, centered=True, momentum=0.5)") ==
        "int64() float32(3,2) float32(4) float32(3,2) float32(4) float32(3,2) float32(4) ");
}

TEST_CASE("every choice of options has its functions", "[optimizers]") {
  const std::vector<Tensor> params = {Tensor::zeros(DType::Float32, {3, 2})};
  for (const OptimizerEntry& optimizer : optimizer_entries()) {
    std::vector<std::string> switches;
    for (const CatalogOption& option : optimizer.options) {
      if (option.use == OptionUse::Variant) switches.push_back(std::string(option.name) + "=True");
      if (option.use == OptionUse::Constant && !option.suffix.empty())
        switches.push_back(std::string(option.name) + "=0.25");
      if (option.use == OptionUse::Gradient) switches.push_back(std::string(option.name) + "=0.5");
      if (option.use == OptionUse::Compat) switches.push_back("compat=tvm");
    }
    std::size_t refused = 0;
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << switches.size()); ++chosen) {
      std::string spec = fmt::format("{}(lr=0.1", optimizer.name);
      if (optimizer.name == "momentum") spec += ", momentum=0.5";
      for (std::size_t i = 0; i < switches.size(); ++i)
        if (chosen >> i & 1) spec += ", " + switches[i];
      INFO(spec);
      try {
        const ModulePtr module = optimizer_module(spec + ")", params);
        CHECK(module->function("optimizer") != nullptr);
      } catch (const Failure& failure) {
        CHECK(failure.diagnostics()[0].id == "option.together");
        ++refused;
      }
    }
    // Nesterov's form with dampening, with and without decay and clipping, in PyTorch's meaning.
    CHECK(refused == (optimizer.name == "momentum" ? 8 : 0));
  }
}
