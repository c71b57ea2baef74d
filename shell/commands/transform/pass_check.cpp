// Inputs are made as `--arg x=rand` makes them.
#include "shell/commands/transform/pass_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "shell/commands/run/batch_call.h"
#include "shell/program/call_values.h"
#include "support/failure.h"
#include "transform/rebuild.h"
#include "transform/widen.h"

namespace relish {
namespace {

constexpr std::int64_t open_size = 3;

// Whether the type says how a value is drawn; `into` gets the paths of its leaves, and what to give for them.
bool may_be_drawn(const std::string& path, const Type& type,
                  std::vector<std::pair<std::string, ScriptValue>>& into) {
  if (const TupleType* fields = type.tuple()) {
    for (std::size_t i = 0; i < fields->fields.size(); ++i)
      if (!may_be_drawn(fmt::format("{}.{}", path, i), fields->fields[i], into)) return false;
    return true;
  }
  if (const auto* scalar = type.as<ScalarType>()) {
    ScriptValue value(open_size);
    if (is_bool(scalar->dtype)) value = ScriptValue(true);
    if (is_float(scalar->dtype)) value = ScriptValue(0.5);
    into.emplace_back(path, std::move(value));
    return true;
  }
  into.emplace_back(path, ScriptValue("rand"));
  const TensorType* tensor = type.tensor();
  return tensor && tensor->has_shape() && tensor->dtype;
}

std::optional<CallInputs> drawn_inputs(std::uint64_t seed, const Function& function) {
  CallInputs inputs;
  inputs.seed = seed;
  std::vector<ScalarVar> sizes;
  for (const Var& param : function.params) {
    std::vector<std::pair<std::string, ScriptValue>> leaves;
    if (!may_be_drawn(param.name(), param.type(), leaves)) return std::nullopt;
    for (auto& [path, value] : leaves) inputs.arguments.emplace_back(std::move(path), std::move(value));
    collect_vars(param.type(), sizes);
  }
  for (const ScalarVar& size : sizes) {
    const bool known = std::any_of(inputs.dims.begin(), inputs.dims.end(),
                                   [&](const auto& dim) { return dim.first == size.name(); });
    if (!known) inputs.dims.emplace_back(size.name(), open_size);
  }
  return inputs;
}

// Results of one dtype differ by so much where a pass may sum in another order.
Closeness closeness_of(const NamedTensors& results) {
  Closeness closeness{.rtol = 1e-9, .atol = 1e-12, .equal_nan = true};
  for (const auto& [name, tensor] : results) {
    if (!is_float(tensor.dtype()) || tensor.dtype() == DType::Float64) continue;
    const bool half = size_of(tensor.dtype()) == 2;
    closeness.rtol = std::max(closeness.rtol, half ? 2e-2 : 1e-4);
    closeness.atol = std::max(closeness.atol, half ? 1e-2 : 1e-5);
  }
  return closeness;
}

// Where large terms cancel, what another order of sums leaves of them is small beside the terms alone; with
// the digits of float64 nothing of it is left.
bool agree_in_float64(Evaluator& interpreter, const Module& before, const Module& after,
                      const std::string& name, const std::vector<Value>& arguments) {
  const std::optional<Module> old = widened(before, name), now = widened(after, name);
  if (!old || !now) return false;
  std::vector<Value> wide;
  for (const Value& argument : arguments) wide.push_back(widened(argument));
  const auto results = [&](const Module& module) {
    return flatten_result(interpreter.call(std::make_shared<const Module>(module), name, wide));
  };
  const Closeness closeness{.rtol = 1e-7, .atol = 1e-9, .equal_nan = true};
  return !compare_results(results(*now), results(*old), closeness);
}

}  // namespace

void check_computes_the_same(Session& session, std::string_view pass, const ModulePtr& before,
                             const ModulePtr& after) {
  Evaluator& interpreter = session.evaluator("interp");
  for (const GlobalFunction& global : after->functions) {
    const auto* made = std::get_if<FunctionPtr>(&global);
    const FunctionPtr old = made ? before->function((*made)->name) : nullptr;
    if (!old || old == *made || !same_signature(*old, **made)) continue;
    const std::string& name = old->name;
    const std::optional<CallInputs> inputs = drawn_inputs(session.settings().seed, *old);
    if (!inputs) continue;
    NamedTensors expected;
    std::vector<Value> arguments;
    try {
      arguments = make_arguments(*before, name, *inputs);
      expected = flatten_result(interpreter.call(before, name, arguments));
    } catch (const Failure& failure) {
      if (failure.error_class() == ErrorClass::Internal || failure.error_class() == ErrorClass::Interrupted)
        throw;
      continue;  // such numbers it does not take
    }
    const NamedTensors found = flatten_result(interpreter.call(after, name, arguments));
    const auto difference = compare_results(found, expected, closeness_of(expected));
    if (difference && !agree_in_float64(interpreter, *before, *after, name, arguments))
      fail(ErrorClass::Runtime, (*made)->span, "passes.differs",
           fmt::format("behind {} '{}' computes something else: {}", pass, name, *difference));
  }
}

}  // namespace relish
