// Gradients of gradients: every operator that a rule emits has a rule itself, and the second derivative
// agrees with differences of the first.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "ir/entry.h"
#include "tests/ops/gradient_case.h"
#include "transform/gradient.h"

namespace relish::testing {
namespace {

constexpr std::int64_t most_elements = 24;

std::string text_of(const Failure& failure) {
  const Diagnostic& first = failure.diagnostics().front();
  return fmt::format("{}: {} [{}]", name_of(first.error_class), first.message, first.id);
}

// `slope(inputs) -> scalar`, the sum of all partials of the case, each element times another number, and its
// adjoint.
ModulePtr slope_module(const GradientCase& gradient) {
  const FunctionPtr adjoint = gradient.module->function("main_adjoint");
  FunctionBuilder builder;
  for (const Var& param : adjoint->params) builder.reserve_name(param.name());
  builder.begin_block(true);
  for (const BindingBlock& block : adjoint->blocks) {
    for (const Binding& binding : block.bindings) {
      builder.reserve_name(binding.var().name());
      builder.append(binding);
    }
  }
  const Expr partials = builder.emit(tuple_get(builder.emit(adjoint->result), 1));
  Expr total;
  for (std::size_t k = 0; k < gradient.wrt.size(); ++k) {
    const Expr partial = builder.emit(tuple_get(partials, static_cast<int>(k)));
    const TensorType& type = *partial.type().tensor();
    Tensor weights = Tensor::empty(*type.dtype, concrete_shape(type));
    for (std::int64_t i = 0; i < weights.size(); ++i)
      weights.set_double(i, 0.5 + static_cast<double>((i * 31 + 7) % 11) / 11.0);
    const Expr sum =
        builder.emit(op_call("sum", {builder.emit(op_call("multiply", {partial, constant(weights)}))}));
    total = total.defined() ? builder.emit(op_call("add", {total, sum})) : sum;
  }
  const Var slope = builder.bind(total, "slope", true);
  builder.end_block();
  Function function = *adjoint;
  function.name = "slope";
  function.blocks = builder.take_blocks();
  function.result = slope;
  function.result_type = slope.type();
  GradientOptions options;
  for (const std::size_t k : gradient.wrt) options.wrt.push_back(adjoint->params[k].name());
  Module module;
  module.name = "Slope";
  module.set(std::make_shared<const Function>(std::move(function)));
  return std::make_shared<const Module>(relish::gradient(module, "slope", options));
}

bool small(const OperatorCase& operator_case) {
  std::int64_t elements = 0;
  for (const Tensor* tensor : operator_case.tensors()) elements += tensor->size();
  return elements > 0 && elements <= most_elements;
}

void check_second(const OperatorCase& wide) {
  const GradientCase gradient = gradient_case(wide);
  const ModulePtr module = slope_module(gradient);
  const Value second = interpreter().call(module, "slope_adjoint", gradient.inputs);
  const auto slope_at = [&](std::size_t input, std::int64_t element, double step) {
    std::vector<Value> at = gradient.inputs;
    Tensor moved = at[input].tensor().copy();
    moved.set_double(element, moved.get_double(element) + step);
    at[input] = moved;
    return interpreter().call(module, "slope", at).tensor().get_double(0);
  };
  for (std::size_t k = 0; k < gradient.wrt.size(); ++k) {
    const std::size_t input = gradient.wrt[k];
    const Tensor analytic = second.fields().at(1).fields().at(k).tensor();
    const Tensor& x = gradient.inputs[input].tensor();
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const double h = 1e-3 * std::clamp(std::abs(x.get_double(i)), 1.0, 4.0);
      const double numeric = (slope_at(input, i, -2 * h) - 8 * slope_at(input, i, -h) +
                              8 * slope_at(input, i, h) - slope_at(input, i, 2 * h)) /
                             (12 * h);
      INFO("input " << input << " element " << i);
      CHECK(numeric == Approx(analytic.get_double(i)).epsilon(1e-5).margin(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("gradients of gradients agree with differences", "[ops]") {
  for (const Op* op : operators_under_test()) {
    if (!op->vjp) continue;
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      if (!sample.check_gradient) continue;
      INFO(label);
      try {
        OperatorCase operator_case = case_of_sample(*op, sample.args, label);
        std::erase_if(operator_case.arguments, [](const CaseArgument& a) { return a.name == "out_dtype"; });
        const std::optional<OperatorCase> wide = with_dtype(operator_case, DType::Float64);
        if (!wide || !small(*wide)) continue;
        const BuiltCall call = build_call(*wide);
        const TensorType* result = call.type.tensor();
        if (!result || *result->dtype != DType::Float64) continue;
        check_second(*wide);
      } catch (const Failure& failure) {
        FAIL_CHECK(text_of(failure));
      }
    }
  }
}

}  // namespace relish::testing
