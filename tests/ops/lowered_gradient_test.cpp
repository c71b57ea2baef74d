// Gradients of loop nests: the lowering of every operator, differentiated as a prim_func, against the
// operator's own rule.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>

#include "tests/ops/agreement.h"
#include "tests/ops/gradient_case.h"
#include "transform/derivatives.h"
#include "transform/gradient.h"
#include "transform/legalize.h"

namespace relish::testing {
namespace {

Module lowered_module(const GradientCase& gradient) {
  Module plain;
  plain.set(gradient.module->function("main"));
  return legalize(plain);
}

// The tangent of the lowered operator in a fixed direction against the partials of its rule.
void check_tangent_of_lowered(const GradientCase& by_rule, const std::vector<Tensor>& partials) {
  const Module lowered = lowered_module(by_rule);
  DerivativeOptions options;
  std::vector<Value> inputs = by_rule.inputs;
  double wanted = 0, magnitude = 1e-3;
  for (std::size_t k = 0; k < by_rule.wrt.size(); ++k) {
    options.wrt.push_back(lowered.function("main")->params[by_rule.wrt[k]].name());
    Tensor dot = partials[k].copy();
    for (std::int64_t i = 0; i < dot.size(); ++i) {
      dot.set_double(i,
                     static_cast<double>((i * 47 + static_cast<std::int64_t>(k) * 23 + 5) % 79) / 39.0 - 1);
      const double term = dot.get_double(i) * partials[k].get_double(i);
      wanted += term;
      magnitude += std::abs(term);
    }
    inputs.emplace_back(dot);
  }
  const auto module = std::make_shared<const Module>(jvp(lowered, "main", options));
  const double found = interpreter().call(module, "main_jvp", inputs).fields().at(1).tensor().get_double(0);
  INFO("tangent " << found << ", gradient times direction " << wanted);
  CHECK(std::abs(found - wanted) <= 1e-9 * magnitude);
}

// The same case with the operator lowered before its gradient is taken.
GradientCase lowered_case(const GradientCase& gradient) {
  const Module lowered = lowered_module(gradient);
  GradientOptions options;
  for (const std::size_t i : gradient.wrt) options.wrt.push_back(lowered.function("main")->params[i].name());
  GradientCase result = gradient;
  result.module = std::make_shared<const Module>(relish::gradient(lowered, "main", options));
  return result;
}

}  // namespace

TEST_CASE("the gradient of a lowered operator is the one of its rule", "[ops]") {
  int compared = 0;
  for (const Op* op : operators_under_test()) {
    if (!op->vjp || !op->lower) continue;
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      if (!sample.check_gradient || op->name == "std") continue;  // at 0 the root of its nest has no slope
      INFO(label);
      try {
        const std::optional<OperatorCase> wide = float64_case(*op, sample, label);
        if (!wide) continue;
        const GradientCase by_rule = gradient_case(*wide);
        const std::vector<Tensor> wanted = by_rule.partials(interpreter(), by_rule.inputs);
        if (!by_rule.wrt.empty()) check_tangent_of_lowered(by_rule, wanted);
        const GradientCase by_loops = lowered_case(by_rule);
        const std::vector<Tensor> found = by_loops.partials(interpreter(), by_loops.inputs);
        REQUIRE(found.size() == wanted.size());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          REQUIRE(found[k].shape() == wanted[k].shape());
          double largest = 1;
          for (std::int64_t i = 0; i < wanted[k].size(); ++i)
            largest = std::max(largest, std::abs(wanted[k].get_double(i)));
          for (std::int64_t i = 0; i < wanted[k].size(); ++i) {
            INFO("input " << k << " element " << i);
            CHECK(found[k].get_double(i) ==
                  Approx(wanted[k].get_double(i)).epsilon(1e-9).margin(1e-11 * largest));
          }
        }
        ++compared;
      } catch (const Failure& failure) {
        FAIL_CHECK(text_of(failure));
      }
    }
  }
  CHECK((compared > 100 || std::getenv("RELISH_OPS")));
}

}  // namespace relish::testing
