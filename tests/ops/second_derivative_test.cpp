// Second derivatives: the gradient of a sum of first partials, against differences of it. So every operator
// that a rule emits has a rule, and the rules are those of what they emit.
#include <catch2/catch.hpp>

#include <cmath>

#include "ir/calls/entry.h"
#include "tests/ops/second_case.h"

namespace relish::testing {
namespace {

double slope_at(const SecondCase& second, std::size_t input, std::int64_t element, double step) {
  std::vector<Value> at = second.inputs;
  Tensor moved = at[input].tensor().copy();
  moved.set_double(element, moved.get_double(element) + step);
  at[input] = moved;
  return interpreter().call(second.module, "slope", at).tensor().get_double(0);
}

void check_second(const SecondCase& second) {
  const Value answer = interpreter().call(second.module, "slope_adjoint", second.inputs);
  const Value compiled = jit(1).call(second.module, "slope_adjoint", second.inputs);
  for (std::size_t k = 0; k < second.wrt.size(); ++k) {
    const Tensor& partial = answer.fields().at(1).fields().at(k).tensor();
    const Tensor& fast = compiled.fields().at(1).fields().at(k).tensor();
    const std::size_t input = second.wrt[k];
    // Four elements of each input tell whether the rule is right.
    const std::int64_t stride = std::max<std::int64_t>(partial.size() / 4, 1);
    for (std::int64_t i = 0; i < partial.size(); i += stride) {
      const double h = 1e-3;
      const double numeric = (slope_at(second, input, i, -2 * h) - 8 * slope_at(second, input, i, -h) +
                              8 * slope_at(second, input, i, h) - slope_at(second, input, i, 2 * h)) /
                             (12 * h);
      const double analytic = partial.get_double(i);
      INFO("input " << input << " element " << i << ": analytic " << analytic << ", differences " << numeric);
      CHECK(std::abs(numeric - analytic) <= 1e-5 * std::abs(analytic) + 1e-7);
      CHECK(std::abs(fast.get_double(i) - analytic) <= 1e-9 * std::abs(analytic) + 1e-12);
    }
  }
}

}  // namespace

TEST_CASE("second derivatives agree with differences of the first", "[ops]") {
  for_each_differentiable(
      [](const Op&, const OperatorCase& wide) { check_second(second_case(gradient_case(wide))); });
}

}  // namespace relish::testing
