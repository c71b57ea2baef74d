// Forward mode of every operator with a gradient rule: its tangent, which is made from that rule, against the
// gradient times the direction and against differences; and no trace of a cotangent is left in it.
#include <catch2/catch.hpp>

#include <cmath>

#include "ir/printer/printer.h"
#include "tests/ops/gradient_case.h"
#include "transform/derivatives.h"

namespace relish::testing {
namespace {

double loss_along(const GradientCase& gradient, const std::vector<Tensor>& dots, double step) {
  std::vector<Value> at = gradient.inputs;
  for (std::size_t k = 0; k < dots.size(); ++k) {
    Tensor moved = at[gradient.wrt[k]].tensor().copy();
    for (std::int64_t i = 0; i < moved.size(); ++i)
      moved.set_double(i, moved.get_double(i) + step * dots[k].get_double(i));
    at[gradient.wrt[k]] = moved;
  }
  return gradient.loss(interpreter(), at);
}

void check_tangent(const GradientCase& gradient) {
  const FunctionPtr main = gradient.module->function("main");
  DerivativeOptions options;
  std::vector<Value> inputs = gradient.inputs;
  std::vector<Tensor> dots;
  for (std::size_t k = 0; k < gradient.wrt.size(); ++k) {
    options.wrt.push_back(main->params[gradient.wrt[k]].name());
    dots.push_back(direction_like(gradient.inputs[gradient.wrt[k]].tensor(), k));
    inputs.emplace_back(dots.back());
  }
  const auto module = std::make_shared<const Module>(jvp(*gradient.module, "main", options));
  const Value answer = interpreter().call(module, "main_jvp", inputs);
  const Value compiled = jit(1).call(module, "main_jvp", inputs);
  const double found = answer.fields().at(1).tensor().get_double(0);
  const double fast = compiled.fields().at(1).tensor().get_double(0);
  double expected = 0, magnitude = 1e-3;
  const std::vector<Tensor> partials = gradient.partials(interpreter(), gradient.inputs);
  for (std::size_t k = 0; k < dots.size(); ++k) {
    for (std::int64_t i = 0; i < dots[k].size(); ++i) {
      expected += dots[k].get_double(i) * partials[k].get_double(i);
      magnitude += std::abs(dots[k].get_double(i) * partials[k].get_double(i));
    }
  }
  const double h = 1e-3;
  const double numeric = (loss_along(gradient, dots, -2 * h) - 8 * loss_along(gradient, dots, -h) +
                          8 * loss_along(gradient, dots, h) - loss_along(gradient, dots, 2 * h)) /
                         (12 * h);
  INFO("tangent " << found << ", gradient times direction " << expected << ", differences " << numeric);
  CHECK(std::abs(found - expected) <= 1e-10 * magnitude);
  CHECK(std::abs(fast - found) <= 1e-10 * magnitude);
  CHECK(std::abs(found - numeric) <= 1e-5 * std::abs(numeric) + 1e-7);
}

}  // namespace

TEST_CASE("tangents agree with gradients and with differences", "[ops]") {
  for_each_differentiable([](const Op&, const OperatorCase& wide) {
    const GradientCase gradient = gradient_case(wide);
    if (!gradient.wrt.empty()) check_tangent(gradient);
  });
}

}  // namespace relish::testing
