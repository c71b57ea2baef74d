// Gradients of every operator: against five-point differences in float64, the compiled adjoint against the
// interpreted one, float32 against float64, and refusal by name where there is none.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/golden/tolerance.h"
#include "tests/ops/gradient_case.h"

namespace relish::testing {
namespace {

constexpr std::int64_t most_elements_for_jacobian = 64;
constexpr int directions = 4;

std::string text_of(const Failure& failure) {
  const Diagnostic& first = failure.diagnostics().front();
  return fmt::format("{}: {} [{}]", name_of(first.error_class), first.message, first.id);
}

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

void check_sample(const OperatorCase& wide) {
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
}

}  // namespace

TEST_CASE("gradients agree with differences, and between the tiers", "[ops]") {
  for (const Op* op : operators_under_test()) {
    if (!op->vjp) continue;
    int number = 0, checked = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      if (!sample.check_gradient) continue;
      INFO(label);
      try {
        // Without an attribute that fixes a narrower dtype, everything is float64.
        OperatorCase operator_case = case_of_sample(*op, sample.args, label);
        std::erase_if(operator_case.arguments, [](const CaseArgument& a) { return a.name == "out_dtype"; });
        const std::optional<OperatorCase> wide = with_dtype(operator_case, DType::Float64);
        if (!wide) continue;
        const BuiltCall call = build_call(*wide);
        const std::vector<Type> results = floating_results(call.type);
        const bool all_wide = std::all_of(results.begin(), results.end(), [](const Type& result) {
          return *result.tensor()->dtype == DType::Float64;
        });
        if (results.empty() || !all_wide) continue;
        check_sample(*wide);
        ++checked;
      } catch (const Failure& failure) {
        FAIL_CHECK(text_of(failure));
      }
    }
    INFO(op->name);
    CHECK(checked > 0);
  }
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
