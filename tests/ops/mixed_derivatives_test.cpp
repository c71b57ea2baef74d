// Second derivatives by both modes in either order: forwards through the way back, backwards through the
// tangent, and backwards twice are one number for each operator with a gradient rule.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "ir/calls/entry.h"
#include "tests/ops/second_case.h"
#include "transform/derivatives.h"
#include "transform/gradient.h"

namespace relish::testing {
namespace {

// The sum of the products of the partials with the directions, and of the magnitudes of these.
double along(const Value& partials, const std::vector<Tensor>& directions, double& magnitude) {
  double sum = 0;
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const Tensor& partial = partials.fields().at(k).tensor();
    for (std::int64_t i = 0; i < partial.size(); ++i) {
      const double term = partial.get_double(i) * directions[k].get_double(i);
      sum += term;
      magnitude += std::abs(term);
    }
  }
  return sum;
}

// With g the gradient of the operator, w the weights and d a direction, all three are d^T g' w.
void check_orders(const GradientCase& first) {
  const SecondCase second = second_case(first);
  DerivativeOptions ahead;
  std::vector<Tensor> dots, weights;
  std::vector<Value> with_dots = second.inputs, tangent_inputs = first.inputs;
  for (std::size_t k = 0; k < first.wrt.size(); ++k) {
    ahead.wrt.push_back(second.module->function("slope")->params[first.wrt[k]].name());
    dots.push_back(direction_like(first.inputs[first.wrt[k]].tensor(), k));
    weights.push_back(second.inputs[first.inputs.size() + k].tensor());
    with_dots.emplace_back(dots.back());
    tangent_inputs.emplace_back(dots.back());
  }
  double magnitude = 1e-3;
  const double twice_back = along(
      interpreter().call(second.module, "slope_adjoint", second.inputs).fields().at(1), dots, magnitude);

  const auto forwards = std::make_shared<const Module>(jvp(*second.module, "slope", ahead));
  const Value slope = interpreter().call(forwards, "slope_jvp", with_dots);
  const double ahead_of_back = slope.fields().at(1).tensor().get_double(0);

  GradientOptions back;
  back.wrt = ahead.wrt;
  back.target = {1};
  const Module tangent = jvp(*first.module, "main", ahead);
  const auto backwards = std::make_shared<const Module>(gradient(tangent, "main_jvp", back));
  const Value partials = interpreter().call(backwards, "main_jvp_adjoint", tangent_inputs);
  // The slope of the second case has the sign changed.
  const double back_of_ahead = -along(partials.fields().at(1), weights, magnitude);

  INFO("twice back " << twice_back << ", ahead of back " << ahead_of_back << ", back of ahead "
                     << back_of_ahead);
  CHECK(std::abs(twice_back - ahead_of_back) <= 1e-9 * magnitude);
  CHECK(std::abs(twice_back - back_of_ahead) <= 1e-9 * magnitude);
}

}  // namespace

TEST_CASE("both orders of forward and back give one second derivative", "[ops]") {
  std::set<std::string_view> operators;
  int calls = 0;
  for_each_differentiable([&](const Op& op, const OperatorCase& wide) {
    const GradientCase first = gradient_case(wide);
    if (first.wrt.empty()) return;
    check_orders(first);
    operators.insert(op.name);
    ++calls;
  });
  INFO(operators.size() << " operators, " << calls << " calls");
  CHECK((operators.size() > 40 || std::getenv("RELISH_OPS")));  // in each part of the operators
}

}  // namespace relish::testing
