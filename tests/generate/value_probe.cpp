// Probes run in the reference interpreter.
#include "tests/generate/value_probe.h"

#include <algorithm>

#include "ir/rewriting/rewrite.h"
#include "tests/generate/values.h"

namespace relish::generate {
namespace {

constexpr std::int64_t most_elements = 2048;

}  // namespace

bool is_small(const Type& concrete) {
  if (const TensorType* tensor = concrete.tensor()) {
    if (!tensor->shape) return true;
    std::int64_t size = 1;
    for (const Scalar& dim : *tensor->shape) {
      const auto number = dim.as_int();
      if (!number) return true;
      if (*number > most_elements) return false;
      size *= std::max<std::int64_t>(*number, 1);
      if (size > most_elements) return false;
    }
    return true;
  }
  if (const TupleType* tuple = concrete.tuple())
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_small);
  return true;
}

std::optional<Value> ValueProbe::run(const Expr& value, const std::vector<KnownValue>& known,
                                     bool move) const {
  std::vector<Var> params;
  std::vector<Value> args;
  const auto add = [&](const Var& var, const Value& held) {
    if (std::find(params.begin(), params.end(), var) != params.end()) return;
    params.push_back(var);
    args.push_back(move ? moved(random_, held) : held);
  };
  for (const auto& [var, held] : anchors) add(var, held);
  for_each_expr(value, [&](const Expr& expr) {
    const Var* var = expr.as_var();
    if (!var) return;
    for (const KnownValue& each : known) {
      if (each.var == *var) add(each.var, *each.value);
    }
  });
  Function probe;
  probe.name = "probe__";
  probe.params = params;
  const Var result("result", value.type());
  probe.blocks.push_back({false, {Binding{VarBinding{result, value}, {}, nullptr}}, {}, nullptr});
  probe.result = result;
  probe.result_type = value.type();
  Module module = module_;
  module.set(std::make_shared<const Function>(std::move(probe)));
  try {
    return reference().call(std::make_shared<const Module>(std::move(module)), "probe__", std::move(args));
  } catch (const Failure& failure) {
    if (failure.error_class() == ErrorClass::Runtime || failure.error_class() == ErrorClass::Data ||
        failure.error_class() == ErrorClass::ResourceLimit) {
      return std::nullopt;
    }
    throw;
  }
}

std::optional<Value> ValueProbe::judged(const Expr& value, const std::vector<KnownValue>& known) const {
  const Type& type = value.type();
  std::optional<Value> result = run(value, known, false);
  if (!result || !is_moderate(*result)) return std::nullopt;
  if (result->is_tensor() && type.tensor()) {
    RELISH_CHECK(fits(type_of(*result), dims_.concrete(type)) != Fit::Never,
                 "the value of a binding does not have its inferred type");
    if (!is_small(type_of(*result))) return std::nullopt;
  }
  const std::optional<Value> near = run(value, known, true);
  if (!near || !is_near(*result, *near)) return std::nullopt;
  return result;
}

}  // namespace relish::generate
