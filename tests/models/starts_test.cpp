// Start values: the networks of tests/models/starts begin as PyTorch's initialisers would begin them
// (start_values.json, by tests/numbers/start_values.py), and learn from there in both tiers.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "frontend/reader.h"
#include "shell/session.h"
#include "tests/models/trial.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"
#include "train/trainer.h"
#include "transform/parameter_roles.h"
#include "transform/training_rules.h"

namespace relish::testing {
namespace {

constexpr const char* networks[] = {"convolution", "perceptron", "recurrent"};

std::string text_of_network(const std::string& name) {
  std::ifstream file(fmt::format("tests/models/starts/{}.relish", name));
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The class of a script, without the statements behind it.
ModulePtr module_of(const std::string& name, const std::string& text) {
  start_language();
  return read_module(name, text.substr(0, text.find("\nx = ") + 1));
}

std::vector<std::string> parameters_of(const Function& function) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < function.params.size(); ++i) names.push_back(function.params[i].name());
  return names;
}

InitialRules rules_of(const std::string& spec) {
  InitialRules rules;
  if (spec != "default") rules.weights = parse_named_spec(spec);
  return rules;
}

std::vector<Value> drawn_by(Evaluator& engine, const Module& module, const InitialRules& rules,
                            const std::vector<std::string>& names) {
  const auto made =
      std::make_shared<const Module>(add_initialiser(module, rules, *module.function("main"), names));
  const RandomKey words = parameters_key(5);
  Tensor key = Tensor::empty(DType::UInt32, {2});
  for (std::int64_t i = 0; i < 2; ++i) key.set_int(i, words.words[static_cast<std::size_t>(i)]);
  return engine.call(made, "initial_params", {key}).fields();
}

}  // namespace

TEST_CASE("start values have the means and deviations of PyTorch's initialisers", "[starts]") {
  std::ifstream file("tests/models/starts/start_values.json");
  REQUIRE(file);
  const nlohmann::json numbers = nlohmann::json::parse(file);
  for (const std::string name : networks) {
    const ModulePtr module = module_of(name, text_of_network(name));
    const std::vector<std::string> names = parameters_of(*module->function("main"));
    CHECK(numbers.at(name).size() == names.size());
    for (const char* rule : {"default", "xavier_normal(gain=2)", "he_normal", "he_uniform(mode=fan_out)"}) {
      const std::vector<Value> values = drawn_by(interpreter(), *module, rules_of(rule), names);
      const std::vector<Value> compiled_values = drawn_by(compiled(1), *module, rules_of(rule), names);
      for (std::size_t i = 0; i < names.size(); ++i) {
        INFO(name << " " << names[i] << " " << rule);
        const Tensor& found = values[i].tensor();
        const auto& wanted = numbers.at(name).at(names[i]).at(rule);
        const auto count = static_cast<double>(found.size());
        double mean = 0, deviation = 0;
        for (std::int64_t e = 0; e < found.size(); ++e) mean += found.get_double(e) / count;
        for (std::int64_t e = 0; e < found.size(); ++e)
          deviation += std::pow(found.get_double(e) - mean, 2) / count;
        deviation = std::sqrt(deviation);
        const double expected = wanted.at("deviation");
        const double rounding = 1e-9;
        // Four standard errors of the mean and of the deviation of as many numbers.
        CHECK(std::fabs(mean - wanted.at("mean").get<double>()) <=
              4 * expected / std::sqrt(count) + rounding);
        CHECK(std::fabs(deviation - expected) <= 4 * expected / std::sqrt(2 * count) + rounding);
        double furthest = 0;
        for (std::int64_t e = 0; e < found.size(); ++e)
          furthest =
              std::max(furthest, std::fabs(found.get_double(e) - compiled_values[i].tensor().get_double(e)));
        CHECK(furthest <= 1e-5 * (expected + std::fabs(mean)));
      }
    }
  }
}

TEST_CASE("patterns of names choose the rule of a start value before its role does", "[starts]") {
  const ModulePtr module = module_of("perceptron", text_of_network("perceptron"));
  const std::vector<std::string> names = parameters_of(*module->function("main"));
  InitialRules rules;
  rules.patterns = {{"gamma[01]", parse_named_spec("constant(value=3)")},
                    {"?0", parse_named_spec("ones")},
                    {"w*", parse_named_spec("uniform(a=5, b=6)")}};
  const std::vector<Value> values = drawn_by(interpreter(), *module, rules, names);
  const auto least = [&](const std::string& name) {
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    const Tensor& value = values[static_cast<std::size_t>(place)].tensor();
    double result = value.get_double(0);
    for (std::int64_t e = 1; e < value.size(); ++e) result = std::min(result, value.get_double(e));
    return result;
  };
  CHECK(least("gamma0") == 3);
  CHECK(least("gamma1") == 3);
  CHECK(least("gamma2") == 1);
  CHECK(least("w0") == 1);
  CHECK(least("b0") == 1);
  CHECK(least("b3") == 0);
  CHECK(least("w3") >= 5);
  CHECK(least("w4") >= 5);
}

TEST_CASE("a parameter's use is found through rearranging, calls, branches and loops", "[starts]") {
  struct Case {
    const char* parameter;  // type of w
    const char* body;       // what x becomes
    ParameterRole role;
    std::int64_t in, out;
  };
  const Case cases[] = {
      {"(5, 7)", "R.matmul(x, w)", ParameterRole::Weight, 5, 7},
      {"(7, 5)", "R.linear(x, w)", ParameterRole::Weight, 5, 7},
      {"(7, 5)", "R.nn.dense(x, w)", ParameterRole::Weight, 5, 7},
      {"(7, 5)", "R.matmul(x, R.permute_dims(R.astype(w, \"float32\"), [1, 0]))", ParameterRole::Weight, 5,
       7},
      {"(4, 3)", "R.permute_dims(R.matmul(w, R.reshape(x, R.shape([3, 5]))))", ParameterRole::Weight, 3, 4},
      {"(5,)", "R.matmul(x, w)", ParameterRole::Weight, 5, 1},
      {"(2, 5, 7)", "R.matmul(x, R.squeeze(R.split(w, 2, axis=0)[1], axis=[0]))", ParameterRole::Weight, 5,
       7},
      {"(2, 5, 7)", "R.matmul(x, R.take(w, R.const(1), axis=0))", ParameterRole::Weight, 5, 7},
      {"(5, 7)", "R.matmul(x, R.add(w, R.matmul(R.ones((5, 2), \"float32\"), R.ones((2, 7), \"float32\"))))",
       ParameterRole::Weight, 5, 7},
      {"(5, 7)", "R.einsum((w, x), subscripts=\"io,ni->on\")", ParameterRole::Weight, 5, 7},
      {"(3, 5, 2)", "R.einsum((x, w), subscripts=\"hi,hio->ho\")", ParameterRole::Weight, 5, 2},
      {"(5, 7)", "cls.twice(x, w)", ParameterRole::Weight, 5, 7},
      {"(5,)", "R.add(x, w)", ParameterRole::Offset, 1, 1},
      {"(3, 5)", "R.subtract(x, w)", ParameterRole::Offset, 1, 1},
      {"(5,)", "R.multiply(x, w)", ParameterRole::Scale, 1, 1},
      {"(5,)", "R.divide(x, R.sqrt(R.add(w, R.const(0.1, \"float32\"))))", ParameterRole::Scale, 1, 1},
      {"(5,)", "R.multiply(x, R.rsqrt(w))", ParameterRole::Scale, 1, 1},
      {"(5,)", "R.multiply(x, R.add(w, R.const(1.0, \"float32\")))", ParameterRole::Offset, 1, 1},
      {"(5,)", "R.multiply(x, R.exp(w))", ParameterRole::Offset, 1, 1},
      {"(5, 7)", "R.sum(R.multiply(R.expand_dims(x, 2), w), axis=1)", ParameterRole::Weight, 5, 7},
      {"(5,)", "R.nn.prelu(x, w)", ParameterRole::Slope, 1, 1},
      {"(5,)", "R.nn.rms_norm(x, w)", ParameterRole::Scale, 1, 1},
      {"(9, 4)", "R.take(w, R.argmax(x, axis=1), axis=0)", ParameterRole::Embedding, 4, 9},
      {"(9, 4)", "R.take(w, R.const([1, 2]), axis=0)", ParameterRole::Embedding, 4, 9},
      {"(4, 6)", "R.concat((w, w), axis=0)", ParameterRole::Unknown, 4, 6},
      {"(4,)", "R.concat((w, w), axis=0)", ParameterRole::Unknown, 1, 1},
  };
  start_language();
  for (const Case& c : cases) {
    INFO(c.body << " with w: " << c.parameter);
    const ModulePtr module = read_module("<case>", fmt::format(R"(@I.ir_module
class M:
    @R.function
    def twice(a: R.Tensor(("k", "m"), "float32"), v: R.Tensor(("m", "l"), "float32")):
        k = T.int64()
        m = T.int64()
        l = T.int64()
        return R.matmul(a, v)

    @R.function
    def main(x: R.Tensor((3, 5), "float32"), w: R.Tensor({}, "float32")):
        cls = M
        y = {}
        return y
)",
                                                               c.parameter, c.body));
    const std::vector<ParameterUse> uses = parameter_uses(*module, *module->function("main"), {"w"});
    CHECK(static_cast<int>(uses[0].role) == static_cast<int>(c.role));
    CHECK(uses[0].fans.in == c.in);
    CHECK(uses[0].fans.out == c.out);
  }
}

TEST_CASE("networks of all kinds learn from their default start values, in both tiers", "[starts]") {
  for (const std::string name : networks) {
    for (const char* tier : {"interp", "jit"}) {
      INFO(name << " " << tier);
      TemporaryFolder folder;
      Settings settings;
      settings.tier = tier;
      settings.roots = {folder.path()};
      Harness harness(settings);
      const std::string call =
          "train(Net.main, data=(x, y), loss=wanted, optimizer=\"adam(lr=0.01)\", steps={}, "
          "run_dir=\"{}\")";
      const Ran ran = harness.run(text_of_network(name) +
                                  "\nfirst = " + fmt::format(fmt::runtime(call), 1, folder.path() + "/a") +
                                  "\nlast = " + fmt::format(fmt::runtime(call), 25, folder.path() + "/b") +
                                  "\nprint(last[\"loss\"] < 0.7 * first[\"loss\"], last[\"loss\"], "
                                  "first[\"loss\"])\n");
      CHECK(ran.error == "");
      INFO(ran.output);
      CHECK(ran.output.find("\nTrue ") != std::string::npos);
    }
  }
}

}  // namespace relish::testing
