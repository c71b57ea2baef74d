// Making of gradient cases.
#include "tests/ops/gradient_case.h"

#include "ir/entry.h"
#include "ir/rewrite.h"
#include "transform/gradient.h"

namespace relish::testing {
namespace {

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

GradientCase gradient_case(const OperatorCase& operator_case, Tensor cotangent, bool shared) {
  BuiltCall call = build_call(operator_case);
  if (!cotangent.defined()) cotangent = fixed_cotangent(call.type);

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
  const Var ct("ct", type_of(Value(cotangent)));
  function.params.push_back(ct);
  FunctionBuilder builder;
  for (const Var& param : function.params) builder.reserve_name(param.name());
  builder.begin_block(true);
  const Var result = builder.bind(value, "result");
  const Var weighted = builder.bind(op_call("multiply", {result, ct}), "weighted");
  const Var loss = builder.bind(op_call("sum", {weighted}), "loss", true);
  builder.end_block();
  function.blocks = builder.take_blocks();
  function.result = loss;
  function.result_type = loss.type();

  GradientCase gradient;
  GradientOptions options;
  for (std::size_t i = 0; i < call.params.size(); ++i) {
    const TensorType* tensor = call.params[i].type().tensor();
    if (!tensor || !is_float(*tensor->dtype)) continue;
    gradient.wrt.push_back(i);
    options.wrt.push_back(call.params[i].name());
  }
  Module module;
  module.name = "Case";
  module.set(std::make_shared<const Function>(std::move(function)));
  gradient.module = std::make_shared<const Module>(relish::gradient(module, "main", options));
  gradient.inputs = call.values;
  gradient.inputs.emplace_back(cotangent);
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

}  // namespace relish::testing
