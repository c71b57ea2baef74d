// Forward mode of generated programs in float64: the tangent along random directions is the gradient times
// the direction, whatever the program does, at kinks too; the compiled tangent gives what the interpreted one
// does.
#include <cmath>

#include "ir/calls/entry.h"
#include "tests/generate/checks.h"
#include "tests/generate/values.h"
#include "transform/derivatives.h"
#include "transform/gradient.h"

namespace relish::generate {
namespace {

// A direction for the value: of its type, floats in [-1, 1]; nothing for what is not of floats throughout.
std::optional<Value> direction_of(const Value& value, Random& random) {
  if (value.is_tuple()) {
    std::vector<Value> fields;
    for (const Value& field : value.fields()) {
      std::optional<Value> direction = direction_of(field, random);
      if (!direction) return std::nullopt;
      fields.push_back(std::move(*direction));
    }
    if (fields.empty()) return std::nullopt;
    return Value::tuple(std::move(fields));
  }
  if (!value.is_tensor() || value.tensor().dtype() != DType::Float64) return std::nullopt;
  Tensor result = Tensor::empty(DType::Float64, value.tensor().shape());
  for (std::int64_t i = 0; i < result.size(); ++i) result.set_double(i, random.uniform(-1, 1));
  return Value(result);
}

// The sum of the products of elements, and of their magnitudes.
void add_product(const Value& a, const Value& b, double& sum, double& magnitude) {
  if (a.is_tuple()) {
    for (std::size_t i = 0; i < a.fields().size(); ++i)
      add_product(a.fields()[i], b.fields()[i], sum, magnitude);
    return;
  }
  for (std::int64_t i = 0; i < a.tensor().size(); ++i) {
    const double term = a.tensor().get_double(i) * b.tensor().get_double(i);
    sum += term;
    magnitude += std::abs(term);
  }
}

}  // namespace

std::vector<std::string> forward_findings(const Program& program, Tally& tally) {
  const FunctionPtr main = program.module->function("main");
  Random random(program.options.seed ^ 0x2c1b3c6d);
  GradientOptions back;
  DerivativeOptions ahead;
  std::vector<Value> dots;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    std::optional<Value> dot = direction_of(program.inputs[i], random);
    if (!dot) continue;
    back.wrt.push_back(main->params[i].name());
    ahead.wrt.push_back(main->params[i].name());
    dots.push_back(std::move(*dot));
  }
  if (dots.empty()) {
    ++tally["without inputs to differentiate"];
    return {};
  }
  ModulePtr adjoint, tangent;
  try {
    adjoint = std::make_shared<const Module>(gradient(*program.module, "main", back));
    tangent = std::make_shared<const Module>(jvp(*program.module, "main", ahead));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Internal) throw;
    return {"a derivative is refused: " + text_of(failure)};
  }
  std::vector<std::string> findings;
  Program printed = program;
  printed.module = tangent;
  Tally ignored;
  for (const std::string& finding : round_trip_findings(printed, ignored))
    findings.push_back("tangent: " + finding);
  std::vector<Value> inputs = program.inputs;
  inputs.insert(inputs.end(), dots.begin(), dots.end());
  const Outcome gradients = outcome_of(reference(), adjoint, "main_adjoint", program.inputs);
  const Outcome found = outcome_of(reference(), tangent, "main_jvp", inputs);
  const Outcome fast = outcome_of(compiled(1), tangent, "main_jvp", inputs);
  if (!gradients.value || !found.value)
    return {"a derivative faults: " + (gradients.value ? found.fault : gradients.fault)};
  double expected = 0, magnitude = 1;
  for (std::size_t k = 0; k < dots.size(); ++k)
    add_product(gradients.value->fields().at(1).fields().at(k), dots[k], expected, magnitude);
  const double slope = found.value->fields().at(1).tensor().get_double(0);
  ++tally["compared"];
  if (!(std::abs(slope - expected) <= 1e-8 * magnitude))
    findings.push_back(
        fmt::format("the tangent is {}, the gradient times the direction {}", slope, expected));
  if (fast.value) {
    const double quick = fast.value->fields().at(1).tensor().get_double(0);
    if (!(std::abs(slope - quick) <= 1e-8 * magnitude))
      findings.push_back(fmt::format("the tangent is {}, compiled {}", slope, quick));
  } else if (!is_not_lowered(fast)) {
    findings.push_back("the compiled tangent faults: " + fast.fault);
  }
  return findings;
}

}  // namespace relish::generate
