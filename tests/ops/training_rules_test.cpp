// Schedules against PyTorch's (tests/numbers/schedules.json) and initialisers against their formulas, in both
// tiers.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shell/session.h"
#include "stdlib/catalog.h"
#include "tests/ops/operator_case.h"
#include "tests/unit/stdlib/numbers_file.h"
#include "train/trainer.h"
#include "transform/training_rules.h"

using namespace relish;
using namespace relish::testing;

namespace {

Module empty_module() {
  start_language();
  Module module;
  module.name = "M";
  return module;
}

Value integer(std::int64_t value) { return Tensor::scalar(DType::Int64, static_cast<double>(value)); }

// The parameters that an initialiser draws for one weight and one bias.
std::vector<Value> drawn(Evaluator& engine, const std::string& spec, DType dtype, const Shape& shape,
                         RandomKey words) {
  Function function;
  function.name = "f";
  function.params = {Var("w", tensor_type({shape.begin(), shape.end()}, dtype)),
                     Var("b", tensor_type({Scalar(5)}, dtype))};
  const auto module = std::make_shared<const Module>(
      add_initialiser(empty_module(), {parse_named_spec(spec), {}}, function, {"w", "b"}));
  Tensor key = Tensor::empty(DType::UInt32, {2});
  for (std::int64_t i = 0; i < 2; ++i) key.set_int(i, words.words[static_cast<std::size_t>(i)]);
  return engine.call(module, "initial_params", {key}).fields();
}

struct Moments {
  double mean = 0, deviation = 0, least = INFINITY, most = -INFINITY;
};

Moments moments_of(const Tensor& tensor) {
  Moments m;
  const auto count = static_cast<double>(tensor.size());
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    m.mean += tensor.get_double(i) / count;
    m.least = std::min(m.least, tensor.get_double(i));
    m.most = std::max(m.most, tensor.get_double(i));
  }
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    m.deviation += std::pow(tensor.get_double(i) - m.mean, 2) / count;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

}  // namespace

TEST_CASE("schedules give the rates of PyTorch", "[schedules]") {
  std::ifstream file(std::string(RELISH_SOURCE_DIR) + "/tests/numbers/schedules.json");
  REQUIRE(file);
  const nlohmann::json numbers = nlohmann::json::parse(file);
  const Value lr = Tensor::scalar(DType::Float64, numbers.at("lr").get<double>());
  const Value steps = integer(numbers.at("steps").get<std::int64_t>());
  std::string specs;
  for (const auto& [spec, rates] : numbers.at("cases").items()) {
    specs += spec + "\n";
    const auto module =
        std::make_shared<const Module>(add_schedule(empty_module(), parse_named_spec(spec), DType::Float64));
    for (Evaluator* engine : {&interpreter(), &jit(1)}) {
      for (std::size_t step = 0; step < rates.size(); ++step) {
        INFO(spec << " " << engine->name() << " step " << step);
        const Value rate =
            engine->call(module, "learning_rate", {lr, integer(static_cast<std::int64_t>(step)), steps});
        CHECK(rate.tensor().get_double(0) == Approx(rates[step].get<double>()).epsilon(1e-12).margin(1e-13));
      }
    }
  }
  for (const RuleEntry& schedule : schedule_entries()) {
    INFO(schedule.name);
    CHECK(("\n" + specs).find("\n" + std::string(schedule.name)) != std::string::npos);
  }
}

TEST_CASE("initialisers draw from the distributions of their names", "[initialisers]") {
  const Shape shape = {300, 200};
  const double xavier = std::sqrt(2.0 / 500), kaiming = std::sqrt(2.0 / 300);
  struct Wanted {
    const char* spec;
    double mean, deviation, bound;  // bound of |x - mean|, 0: none
  };
  const double root = std::sqrt(3.0);
  const Wanted all[] = {
      {"zeros", 0, 0, 0},
      {"ones", 1, 0, 0},
      {"constant(value=-2.5)", -2.5, 0, 0},
      {"uniform", 0.5, 1 / std::sqrt(12.0), 0.5},
      {"uniform(a=-2, b=4)", 1, 6 / std::sqrt(12.0), 3},
      {"normal", 0, 1, 0},
      {"normal(mean=-3, std=0.5)", -3, 0.5, 0},
      {"xavier_uniform", 0, xavier, root * xavier},
      {"glorot_uniform(gain=2)", 0, 2 * xavier, 2 * root * xavier},
      {"xavier_normal", 0, xavier, 0},
      {"glorot_normal(gain=0.5)", 0, 0.5 * xavier, 0},
      {"kaiming_uniform", 0, kaiming, root * kaiming},
      {"he_uniform(mode=fan_out)", 0, 0.1, root * 0.1},
      {"kaiming_normal", 0, kaiming, 0},
      {"he_normal(a=1)", 0, kaiming / std::sqrt(2.0), 0},
  };
  std::string specs;
  for (const Wanted& wanted : all) {
    specs += std::string("\n") + wanted.spec + "\n";
    for (DType dtype : {DType::Float32, DType::Float64, DType::Float16}) {
      INFO(wanted.spec << " " << name_of(dtype));
      const std::vector<Value> params = drawn(interpreter(), wanted.spec, dtype, shape, key_from_seed(3));
      CHECK(params[0].tensor().dtype() == dtype);
      const Moments found = moments_of(params[0].tensor());
      // 60,000 numbers: five standard errors of mean and deviation.
      CHECK(found.mean == Approx(wanted.mean).margin(5 * wanted.deviation / std::sqrt(60000.0) + 1e-9));
      CHECK(found.deviation == Approx(wanted.deviation).epsilon(0.02).margin(1e-9));
      if (wanted.bound > 0) {
        CHECK(found.most <= (wanted.mean + wanted.bound) * (1 + 1e-3));
        CHECK(found.most >= wanted.mean + 0.99 * wanted.bound);
        CHECK(found.least <= wanted.mean - 0.99 * wanted.bound);
      }
      const Moments bias = moments_of(params[1].tensor());
      CHECK(bias.least == 0);
      CHECK(bias.most == 0);
      const std::vector<Value> compiled = drawn(jit(1), wanted.spec, dtype, shape, key_from_seed(3));
      CHECK(difference(compiled[0].tensor(), params[0].tensor(), 1e-6, 1e-7) == "");
    }
  }
  for (const RuleEntry& initialiser : initialiser_entries()) {
    INFO(initialiser.name);
    CHECK(specs.find("\n" + std::string(initialiser.name)) != std::string::npos);
  }
}

// By the layout of random words that the manual states.
TEST_CASE("xavier_uniform under the key of a seed gives the values that training starts from",
          "[initialisers]") {
  for (const Shape& shape : {Shape{7, 5}, Shape{4, 3, 2, 2}}) {
    const std::vector<Value> params =
        drawn(interpreter(), "xavier_uniform", DType::Float64, shape, parameters_key(11));
    const Tensor& found = params[0].tensor();
    const RandomKey key = fold_in(parameters_key(11), 0);
    const double fans = shape.size() == 2 ? 12.0 : 28.0;
    for (std::int64_t i = 0; i < found.size(); ++i) {
      const double u = uniform_double(random_double_word(key, static_cast<std::uint64_t>(i)));
      CHECK(found.get_double(i) == Approx((2 * u - 1) * std::sqrt(6 / fans)).epsilon(1e-14));
    }
  }
}

TEST_CASE("rules of start values that say nothing are refused", "[initialisers]") {
  Function function;
  function.name = "f";
  function.params = {Var("w", tensor_type({Scalar(3), Scalar(4)}, DType::Float32)),
                     Var("b", tensor_type({Scalar(5)}, DType::Float32)),
                     Var("s", tensor_type({ScalarVar("n", DType::Int64)}, DType::Float32))};
  const auto refusal = [&](const InitialRules& rules, const std::vector<std::string>& names) {
    try {
      add_initialiser(empty_module(), rules, function, names);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string("no failure");
  };
  CHECK(refusal({{}, {{"w*", parse_named_spec("ones")}}}, {"w", "b"}) == "no failure");
  CHECK(refusal({{}, {{"v*", parse_named_spec("ones")}}}, {"w", "b"}) ==
        "UsageError: init: no trained parameter is called 'v*'; they are w, b");
  CHECK(refusal({{}, {{"b", parse_named_spec("he_normal")}}}, {"w", "b"}) ==
        "UsageError: init: he_normal goes by the number of connections, and parameter 'b' connects nothing; "
        "expected normal, uniform, constant, ones or zeros");
  CHECK(refusal({{}, {{"b", parse_named_spec("normal(std=0.1)")}}}, {"w", "b"}) == "no failure");
  CHECK(refusal({}, {"w", "s"}).starts_with("TypeError: parameter 's' has type "));
}
