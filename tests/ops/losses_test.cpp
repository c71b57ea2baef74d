// The losses of the standard library against numbers of PyTorch (tests/numbers/losses), in both tiers: each
// loss with its options, reductions and ranks, and its gradient for the predictions.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/reader.h"
#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "shell/session.h"
#include "stdlib/catalog.h"
#include "tests/ops/operator_case.h"
#include "tests/unit/stdlib/numbers_file.h"
#include "transform/append_loss.h"
#include "transform/gradient.h"

using namespace relish;
using namespace relish::testing;

namespace {

constexpr double wide_rtol = 1e-12, wide_atol = 1e-13;
constexpr double narrow_rtol = 1e-5, narrow_atol = 1e-6;

struct LossCase {
  std::string spec;
  std::vector<Tensor> args;  // predictions, targets[, weights]
  Tensor expect;
  std::optional<Tensor> cotangent, gradient;
};

std::vector<LossCase> cases_of(std::string_view loss) {
  const std::filesystem::path path =
      std::filesystem::path(RELISH_SOURCE_DIR) / "tests/numbers/losses" / (std::string(loss) + ".json");
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<LossCase> cases;
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const auto& json : document.at("cases")) {
    LossCase one;
    one.spec = json.at("spec");
    one.args = {tensor_of(json.at("predictions")), tensor_of(json.at("targets"))};
    if (json.contains("weights")) one.args.push_back(tensor_of(json.at("weights")));
    one.expect = tensor_of(json.at("expect"));
    if (json.contains("cotangent")) one.cotangent = tensor_of(json.at("cotangent"));
    if (json.contains("gradient")) one.gradient = tensor_of(json.at("gradient"));
    cases.push_back(std::move(one));
  }
  return cases;
}

std::string type_text(const Tensor& tensor) { return print(type_of(Value(tensor))); }

// `main` gives its argument; `loss` the loss of it, and for a gradient `number` what is differentiated.
Module module_of(const LossCase& one) {
  start_language();
  const Module module = *read_module(
      "test.relish",
      fmt::format("@I.ir_module\nclass M:\n    @R.function\n    def main(x: {}):\n        return "
                  "R.negative(R.negative(x))\n",
                  type_text(one.args[0])));
  AppendLossOptions options;
  options.loss = parse_named_spec(one.spec);
  options.new_name = "loss";
  Module result = append_loss(module, "main", options);
  if (!one.gradient) return result;
  AppendLossOptions weigh;
  const std::string type = type_text(one.expect);
  weigh.loss_module = read_module(
      "weigh.relish",
      fmt::format("@I.ir_module\nclass W:\n    @R.function\n    def weigh(l: {}, ct: {}):\n        return "
                  "R.sum(R.multiply(l, ct))\n",
                  type, type));
  weigh.loss_function = weigh.loss_module->function("weigh");
  weigh.new_name = "number";
  result = append_loss(result, "loss", weigh);
  GradientOptions wanted;
  wanted.wrt = {"x"};
  return gradient(result, "number", wanted);
}

Tensor cotangent_of(const LossCase& one) {
  return one.cotangent ? *one.cotangent : Tensor::scalar(one.expect.dtype(), 1);
}

}  // namespace

TEST_CASE("losses and their gradients are those of PyTorch, in both tiers", "[losses]") {
  for (const LossEntry& loss : loss_entries()) {
    const std::vector<LossCase> cases = cases_of(loss.name);
    CHECK(cases.size() >= 30);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const LossCase& one = cases[i];
      INFO(i << ": " << one.spec << " of " << type_text(one.args[0]));
      const ModulePtr module = std::make_shared<const Module>(module_of(one));
      const bool wide = one.expect.dtype() == DType::Float64;
      const double rtol = wide ? wide_rtol : narrow_rtol, atol = wide ? wide_atol : narrow_atol;
      for (Evaluator* engine : {&interpreter(), &jit(1)}) {
        INFO(engine->name());
        std::vector<Value> args(one.args.begin(), one.args.end());
        // Compiled once: in float64 the adjoint, which gives a number's value too, else the loss of a mean.
        const bool compiles = engine->name() == "jit";
        if (!compiles || !one.gradient) {
          if (compiles && !wide && one.spec.find("mean") == std::string::npos) continue;
          const Value value = engine->call(module, "loss", args);
          CHECK(difference(value.tensor(), one.expect, rtol, atol) == "");
        }
        if (!one.gradient) continue;
        args.emplace_back(cotangent_of(one));
        const Value both = engine->call(module, "number_adjoint", args);
        if (!one.cotangent) CHECK(difference(both.fields()[0].tensor(), one.expect, rtol, atol) == "");
        CHECK(difference(both.fields()[1].fields()[0].tensor(), *one.gradient, rtol, atol) == "");
      }
    }
  }
}

TEST_CASE("every loss has its numbers, with each option and each reduction", "[losses]") {
  for (const LossEntry& loss : loss_entries()) {
    INFO(loss.name);
    std::string specs;
    for (const LossCase& one : cases_of(loss.name)) specs += one.spec + "\n";
    for (const CatalogOption& option : loss.options) {
      INFO(option.name);
      CHECK(specs.find(std::string(option.name) + "=") != std::string::npos);
    }
    for (const char* reduction : {"'mean'", "'sum'", "'none'"})
      CHECK(specs.find(std::string("reduction=") + reduction) != std::string::npos);
  }
}

TEST_CASE("every choice of options of a loss has its functions, for each rank", "[losses]") {
  const Shape sizes = {2, 3, 2, 2, 2};
  for (const LossEntry& loss : loss_entries()) {
    std::vector<std::string> switches;
    for (const CatalogOption& option : loss.options) {
      if (option.use == OptionUse::Variant) switches.push_back(std::string(option.name) + "=True");
      if (option.use == OptionUse::Constant) switches.push_back(std::string(option.name) + "=0.25");
      if (option.use == OptionUse::Compat) switches.push_back("compat=tvm");
    }
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << switches.size()); ++chosen) {
      for (const char* reduction : {"mean", "sum", "none"}) {
        LossCase one;
        one.spec = fmt::format("{}(reduction={}", loss.name, reduction);
        for (std::size_t i = 0; i < switches.size(); ++i)
          if (chosen >> i & 1) one.spec += ", " + switches[i];
        one.spec += ")";
        for (std::size_t rank = 1; rank <= sizes.size(); ++rank) {
          // TVM's form is for classes in the last dimension.
          if (loss.classes && rank > 2 && one.spec.find("tvm") != std::string::npos) continue;
          INFO(one.spec << " rank " << rank);
          one.args = {
              Tensor::zeros(DType::Float32, Shape(sizes.begin(), sizes.begin() + static_cast<long>(rank)))};
          const bool tvm = one.spec.find("tvm") != std::string::npos;
          if (tvm && one.spec.find("label_smoothing") != std::string::npos) {
            CHECK_THROWS_AS(module_of(one), Failure);
            continue;
          }
          const Module module = module_of(one);
          CHECK((module.function("loss")->result_type.tensor()->rank == 0) ==
                (reduction != std::string("none") ||
                 (rank == 1 && loss.classes && one.spec.find("tvm") == std::string::npos) ||
                 (rank == 1 && loss.class_targets)));
        }
      }
    }
  }
}
