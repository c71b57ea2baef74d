// Making of gradient cases.
#include "tests/ops/gradient_case.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>

#include "ir/calls/entry.h"
#include "ir/rewriting/rewrite.h"
#include "tests/ops/agreement.h"
#include "transform/gradient.h"

namespace relish::testing {
namespace {

// Whether the operator has no gradient in the parameter that `var` is passed for.
bool is_fixed(const Expr& value, const Var& var) {
  const auto* call = value.as<OpCall>();
  if (!call) return false;
  for (std::size_t k = 0; k < call->args.size() && k < call->op->params.size(); ++k) {
    const Var* passed = call->args[k].as_var();
    const auto& fixed = call->op->fixed_params;
    if (passed && *passed == var &&
        std::find(fixed.begin(), fixed.end(), call->op->params[k].name) != fixed.end())
      return true;
  }
  return false;
}

// Fixed numbers in [-1, 1], none of them near 0.
Tensor fixed_cotangent(const Type& type) {
  const TensorType* tensor = type.tensor();
  RELISH_CHECK(tensor, "the result of the call is no tensor");
  Tensor result = Tensor::empty(*tensor->dtype, concrete_shape(*tensor));
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const double spread = static_cast<double>((i * 37 + 11) % 101) / 101.0;  // 37 and 101 are coprime
    result.set_double(i, (i % 2 == 0 ? 1 : -1) * (0.1 + 0.9 * spread));
  }
  return result;
}

}  // namespace

std::vector<Type> floating_results(const Type& type) {
  std::vector<Type> results;
  const auto add = [&](const Type& each) {
    if (each.tensor() && each.tensor()->dtype && is_float(*each.tensor()->dtype)) results.push_back(each);
  };
  if (const TupleType* tuple = type.tuple()) {
    for (const Type& field : tuple->fields) add(field);
  } else {
    add(type);
  }
  return results;
}

std::optional<OperatorCase> float64_case(const Op& op, const Sample& sample, const std::string& label) {
  OperatorCase operator_case = case_of_sample(op, sample.args, label);
  std::erase_if(operator_case.arguments, [](const CaseArgument& a) { return a.name == "out_dtype"; });
  std::optional<OperatorCase> wide = with_dtype(operator_case, DType::Float64);
  if (!wide) return std::nullopt;
  const std::vector<Type> results = floating_results(build_call(*wide).type);
  const bool all_wide = std::all_of(results.begin(), results.end(), [](const Type& result) {
    return *result.tensor()->dtype == DType::Float64;
  });
  if (results.empty() || !all_wide) return std::nullopt;
  return wide;
}

GradientCase gradient_case(const OperatorCase& operator_case, std::vector<Tensor> cotangents, bool shared) {
  BuiltCall call = build_call(operator_case);
  // The shape of a result may be data: then a run tells it.
  const Type type =
      fully_known(call.type) ? call.type : type_of(interpreter().call(call.module, "main", call.values));
  const std::vector<Type> results = floating_results(type);
  RELISH_CHECK(!results.empty(), "a result that can be differentiated is floating");
  if (cotangents.empty())
    for (const Type& result : results) cotangents.push_back(fixed_cotangent(result));
  RELISH_CHECK(cotangents.size() == results.size(), "one cotangent for each floating result");

  const FunctionPtr original = call.module->function("main");
  Expr value = original->blocks.front().bindings.front().value();
  Function function = *original;
  if (shared) {
    const Var second = call.params.at(1);
    value = substitute(value, VarMap{{second.id(), Expr(call.params.at(0))}});
    function.params.erase(function.params.begin() + 1);
    call.params.erase(call.params.begin() + 1);
    call.values.erase(call.values.begin() + 1);
  }
  std::vector<Var> weights;
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    weights.emplace_back(i == 0 ? "ct" : fmt::format("ct{}", i), type_of(Value(cotangents[i])));
    function.params.push_back(weights.back());
  }
  FunctionBuilder builder;
  for (const Var& param : function.params) builder.reserve_name(param.name());
  builder.begin_block(true);
  Var result = builder.bind(value, "result");
  if (!fully_known(call.type)) {
    const Var shaped("shaped", type, true);
    builder.append(Binding{MatchCast{shaped, Expr(result), type}, {}, nullptr});
    result = shaped;
  }
  std::vector<Expr> parts;
  if (const TupleType* tuple = result.type().tuple()) {
    for (std::size_t k = 0; k < tuple->fields.size(); ++k)
      if (!floating_results(tuple->fields[k]).empty())
        parts.push_back(builder.emit(tuple_get(Expr(result), static_cast<int>(k))));
  } else {
    parts.push_back(Expr(result));
  }
  Expr total;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Var weighted = builder.bind(op_call("multiply", {parts[i], weights[i]}), "weighted");
    const Expr sum = op_call("sum", {weighted});
    total = total.defined() ? op_call("add", {builder.emit(total), builder.emit(sum)}) : sum;
  }
  const Var loss = builder.bind(total, "loss", true);
  builder.end_block();
  function.blocks = builder.take_blocks();
  function.result = loss;
  function.result_type = loss.type();

  GradientCase gradient;
  GradientOptions options;
  for (std::size_t i = 0; i < call.params.size(); ++i) {
    const TensorType* tensor = call.params[i].type().tensor();
    if (!tensor || !is_float(*tensor->dtype) || is_fixed(value, call.params[i])) continue;
    gradient.wrt.push_back(i);
    options.wrt.push_back(call.params[i].name());
  }
  Module module;
  module.name = "Case";
  module.set(std::make_shared<const Function>(std::move(function)));
  gradient.module = std::make_shared<const Module>(relish::gradient(module, "main", options));
  gradient.inputs = call.values;
  for (const Tensor& cotangent : cotangents) gradient.inputs.emplace_back(cotangent);
  gradient.cotangents = cotangents.size();
  return gradient;
}

double GradientCase::loss(Evaluator& engine, const std::vector<Value>& at) const {
  return engine.call(module, "main", at).tensor().get_double(0);
}

std::vector<Tensor> GradientCase::partials(Evaluator& engine, const std::vector<Value>& at) const {
  const Value result = engine.call(module, "main_adjoint", at);
  std::vector<Tensor> tensors;
  for (const Value& field : result.fields().at(1).fields()) tensors.push_back(field.tensor());
  return tensors;
}

Tensor direction_like(const Tensor& x, std::size_t which) {
  Tensor result = Tensor::empty(x.dtype(), x.shape());
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.set_double(
        i, static_cast<double>((i * 43 + static_cast<std::int64_t>(which) * 19 + 3) % 83) / 41.5 - 1);
  return result;
}

void for_each_differentiable(const std::function<void(const Op&, const OperatorCase&)>& check) {
  for (const Op* op : operators_under_test()) {
    if (!op->vjp) continue;
    int number = 0;
    for (const Sample& sample : op->samples) {
      const std::string label = fmt::format("{} #{}: {}", op->name, ++number, sample.args);
      if (!sample.check_gradient) continue;
      INFO(label);
      try {
        if (const std::optional<OperatorCase> wide = float64_case(*op, sample, label)) check(*op, *wide);
      } catch (const Failure& failure) {
        FAIL_CHECK(text_of(failure));
      }
    }
  }
}

}  // namespace relish::testing
