// Gradients of every operator: against five-point differences in float64, the compiled adjoint against the
// interpreted one, float32 against float64, linearity in the cotangent, the adjoint identity where a call is
// affine, and refusal by name where there is none.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <set>

#include "tests/golden/tolerance.h"
#include "tests/ops/gradient_case.h"

namespace relish::testing {
namespace {

constexpr std::int64_t most_elements_for_jacobian = 64;
constexpr int directions = 4;

bool close(double a, double b, double rtol, double atol) {
  return std::abs(a - b) <= rtol * std::abs(b) + atol;
}

// (f(x - 2hd) - 8 f(x - hd) + 8 f(x + hd) - f(x + 2hd)) / 12h
double difference_quotient(const GradientCase& gradient, std::size_t input,
                           const std::vector<double>& direction, double h) {
  const auto loss_at = [&](double step) {
    std::vector<Value> at = gradient.inputs;
    Tensor moved = at[input].tensor().copy();
    for (std::int64_t i = 0; i < moved.size(); ++i) {
      moved.set_double(i, moved.get_double(i) + step * direction[static_cast<std::size_t>(i)]);
    }
    at[input] = moved;
    return gradient.loss(interpreter(), at);
  };
  return (loss_at(-2 * h) - 8 * loss_at(-h) + 8 * loss_at(h) - loss_at(2 * h)) / (12 * h);
}

void compare_with_differences(const GradientCase& gradient, const std::vector<Tensor>& partials) {
  for (std::size_t k = 0; k < partials.size(); ++k) {
    const Tensor& x = gradient.inputs[gradient.wrt[k]].tensor();
    const auto size = static_cast<std::size_t>(x.size());
    INFO("input " << gradient.wrt[k]);
    if (x.size() <= most_elements_for_jacobian) {
      for (std::size_t i = 0; i < size; ++i) {
        std::vector<double> direction(size, 0.0);
        direction[i] = 1;
        const double h = 1e-3 * std::max(1.0, std::abs(x.get_double(static_cast<std::int64_t>(i))));
        const double numeric = difference_quotient(gradient, gradient.wrt[k], direction, h);
        const double analytic = partials[k].get_double(static_cast<std::int64_t>(i));
        INFO("element " << i << ": analytic " << analytic << ", differences " << numeric);
        CHECK(close(numeric, analytic, 1e-5, 1e-7));
      }
      continue;
    }
    for (int d = 0; d < directions; ++d) {
      std::vector<double> direction(size);
      double analytic = 0;
      for (std::size_t i = 0; i < size; ++i) {
        direction[i] = static_cast<double>((i * 29 + static_cast<std::size_t>(d) * 53 + 7) % 97) / 48.0 - 1.0;
        analytic += direction[i] * partials[k].get_double(static_cast<std::int64_t>(i));
      }
      const double numeric = difference_quotient(gradient, gradient.wrt[k], direction, 1e-3);
      INFO("direction " << d << ": analytic " << analytic << ", differences " << numeric);
      CHECK(close(numeric, analytic, 1e-5, 1e-7));
    }
  }
}

// The inputs with the cotangents a * u + b * v, where u are the case's own and v others of their shapes.
std::vector<Value> with_cotangents(const GradientCase& gradient, double a, double b) {
  std::vector<Value> inputs = gradient.inputs;
  for (std::size_t k = inputs.size() - gradient.cotangents; k < inputs.size(); ++k) {
    Tensor mixed = inputs[k].tensor().copy();
    for (std::int64_t i = 0; i < mixed.size(); ++i) {
      const double other = static_cast<double>((i * 53 + 29) % 89) / 44.0 - 1.0;  // in [-1, 1]
      mixed.set_double(i, a * mixed.get_double(i) + b * other);
    }
    inputs[k] = mixed;
  }
  return inputs;
}

// g(a u + b v) = a g(u) + b g(v), up to the rounding of sums.
void check_linearity(const GradientCase& gradient, const std::vector<Tensor>& of_u) {
  constexpr double a = 2, b = -0.75;
  const std::vector<Tensor> of_v = gradient.partials(interpreter(), with_cotangents(gradient, 0, 1));
  const std::vector<Tensor> of_both = gradient.partials(interpreter(), with_cotangents(gradient, a, b));
  for (std::size_t k = 0; k < of_u.size(); ++k) {
    double largest = 0;  // of the terms that the partials are sums of
    for (std::int64_t i = 0; i < of_u[k].size(); ++i)
      largest = std::max({largest, std::abs(of_u[k].get_double(i)), std::abs(of_v[k].get_double(i))});
    for (std::int64_t i = 0; i < of_u[k].size(); ++i) {
      const double apart = a * of_u[k].get_double(i) + b * of_v[k].get_double(i);
      INFO("linearity in the cotangent: input " << k << " element " << i);
      CHECK(close(of_both[k].get_double(i), apart, 1e-11, 1e-12 * (1 + largest)));
    }
  }
}

// <J v, u> = <v, J^T u> without a difference quotient, for inputs along which the call is affine: there
// f(x + v) - f(x) is J v itself. Gives how many inputs were so.
int check_adjoint_identity(const GradientCase& gradient, const std::vector<Tensor>& partials) {
  int checked = 0;
  const double here = gradient.loss(interpreter(), gradient.inputs);
  for (std::size_t k = 0; k < partials.size(); ++k) {
    const Tensor& x = gradient.inputs[gradient.wrt[k]].tensor();
    if (x.size() == 0) continue;
    Tensor direction = x.copy();
    double expected = 0, magnitude = std::abs(here);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      direction.set_double(i, static_cast<double>((i * 31 + 17) % 83) / 41.0 - 1.0);
      expected += direction.get_double(i) * partials[k].get_double(i);
      magnitude += std::abs(direction.get_double(i) * partials[k].get_double(i));
    }
    const auto moved = [&](double step) {
      std::vector<Value> at = gradient.inputs;
      Tensor there = x.copy();
      for (std::int64_t i = 0; i < x.size(); ++i)
        there.set_double(i, x.get_double(i) + step * direction.get_double(i));
      at[gradient.wrt[k]] = there;
      return gradient.loss(interpreter(), at) - here;
    };
    const double forth = moved(0.5);
    const double allowed = 1e-11 * (1 + magnitude);
    const auto affine = [&](double step) { return std::abs(moved(step) - step / 0.5 * forth) <= allowed; };
    if (!affine(-0.5) || !affine(0.25)) continue;
    INFO("input " << gradient.wrt[k] << ": <J v, u> is " << forth / 0.5 << ", <v, J^T u> is " << expected);
    CHECK(std::abs(forth / 0.5 - expected) <= 4 * allowed);
    ++checked;
  }
  return checked;
}

// Gives how many inputs the adjoint identity held for.
int check_sample(const OperatorCase& wide) {
  const GradientCase gradient = gradient_case(wide);
  const std::vector<Tensor> partials = gradient.partials(interpreter(), gradient.inputs);
  REQUIRE(partials.size() == gradient.wrt.size());
  for (std::size_t k = 0; k < partials.size(); ++k) {
    CHECK(partials[k].shape() == gradient.inputs[gradient.wrt[k]].tensor().shape());
  }
  compare_with_differences(gradient, partials);

  // The compiled adjoint; and a zero cotangent gives exact zeros.
  const std::vector<Tensor> compiled = gradient.partials(jit(1), gradient.inputs);
  const std::vector<Tensor> threaded = gradient.partials(jit(2), gradient.inputs);
  std::vector<Value> with_zero = gradient.inputs;
  for (auto it = with_zero.end() - static_cast<std::ptrdiff_t>(gradient.cotangents); it != with_zero.end();
       ++it)
    *it = Tensor::zeros(DType::Float64, it->tensor().shape());
  const std::vector<Tensor> zeros = gradient.partials(interpreter(), with_zero);
  for (std::size_t k = 0; k < partials.size(); ++k) {
    CHECK(disagreement(compiled[k], partials[k], 6) == "");
    CHECK(disagreement(threaded[k], compiled[k], 1) == "");
    for (std::int64_t i = 0; i < zeros[k].size(); ++i) CHECK(zeros[k].get_double(i) == 0.0);
  }

  // The same graph in float32.
  const std::optional<OperatorCase> narrow = with_dtype(wide, DType::Float32);
  const GradientCase single = gradient_case(*narrow);
  const std::vector<Tensor> rough = single.partials(interpreter(), single.inputs);
  for (std::size_t k = 0; k < partials.size(); ++k) {
    for (std::int64_t i = 0; i < partials[k].size(); ++i) {
      INFO("input " << k << " element " << i);
      CHECK(close(rough[k].get_double(i), partials[k].get_double(i), 1e-4, 1e-5));
    }
  }
  check_linearity(gradient, partials);
  return check_adjoint_identity(gradient, partials);
}

}  // namespace

TEST_CASE("gradients agree with differences, and between the tiers", "[ops]") {
  int identities = 0;
  std::set<std::string_view> checked;
  for_each_differentiable([&](const Op& op, const OperatorCase& wide) {
    identities += check_sample(wide);
    checked.insert(op.name);
  });
  for (const Op* op : operators_under_test()) {
    INFO(op->name);
    // A stack is no tensor: tests/golden/run/gradients-of-control.relish goes through them.
    CHECK((!op->vjp || checked.contains(op->name) || op->name.starts_with("stack.")));
  }
  CHECK((identities > 100 || std::getenv("RELISH_OPS")));
}

TEST_CASE("an operand used twice gets the sum of its partials", "[ops]") {
  for (const Op* op : operators_under_test()) {
    if (!op->vjp) continue;
    int number = 0;
    for (const Sample& sample : op->samples) {
      ++number;
      if (!sample.check_gradient) continue;
      try {
        const OperatorCase operator_case = case_of_sample(*op, sample.args, std::string(op->name));
        std::vector<const Tensor*> tensors = operator_case.tensors();
        if (tensors.size() != 2 || tensors[0]->shape() != tensors[1]->shape() ||
            !is_float(tensors[0]->dtype()) || !is_float(tensors[1]->dtype())) {
          continue;
        }
        // f(x, x): the sum of the partials of f(x, y) at y = x.
        std::optional<OperatorCase> same = with_dtype(operator_case, DType::Float64);
        *same->tensors()[1] = *same->tensors()[0];
        const GradientCase apart = gradient_case(*same), together = gradient_case(*same, {}, true);
        const std::vector<Tensor> partials = apart.partials(interpreter(), apart.inputs);
        const std::vector<Tensor> sums = together.partials(interpreter(), together.inputs);
        INFO(op->name << " #" << number);
        REQUIRE(partials.size() == 2);
        REQUIRE(sums.size() == 1);
        for (std::int64_t i = 0; i < sums[0].size(); ++i) {
          CHECK(close(sums[0].get_double(i), partials[0].get_double(i) + partials[1].get_double(i), 1e-12,
                      1e-14));
        }
      } catch (const Failure& failure) {
        FAIL_CHECK(op->name << " #" << number << ": " << text_of(failure));
      }
    }
  }
}

TEST_CASE("an operator without a gradient is refused by name, or its derivative is zero", "[ops]") {
  for (const Op* op : operators_under_test()) {
    if (op->vjp || op->samples.empty()) continue;
    INFO(op->name);
    const OperatorCase operator_case = case_of_sample(*op, op->samples.front().args, std::string(op->name));
    const BuiltCall call = build_call(operator_case);
    if (floating_results(call.type).empty()) continue;  // nothing flows back through integers and booleans
    bool any_float = false;
    for (const Tensor* tensor : operator_case.tensors()) any_float = any_float || is_float(tensor->dtype());
    if (!any_float) continue;
    if (op->zero_gradient) {
      const GradientCase gradient = gradient_case(operator_case);
      for (const Tensor& partial : gradient.partials(interpreter(), gradient.inputs)) {
        for (std::int64_t i = 0; i < partial.size(); ++i) CHECK(partial.get_double(i) == 0.0);
      }
    } else {
      try {
        gradient_case(operator_case);
        FAIL_CHECK("the gradient was made without a rule");
      } catch (const Failure& failure) {
        CHECK(failure.error_class() == ErrorClass::Type);
        CHECK(failure.diagnostics().front().message.find(op->name) != std::string::npos);
      }
    }
  }
}

}  // namespace relish::testing
