// Agreement of results by class.
#include "tests/ops/agreement.h"

#include <algorithm>
#include <cmath>

#include "ir/calls/entry.h"
#include "tests/golden/tolerance.h"

namespace relish::testing {
namespace {

const OpCall& op_call_of(const BuiltCall& call) {
  const auto& binding = call.module->function("main")->blocks.front().bindings.front();
  return *binding.value().as<OpCall>();
}

CallView view_of(const OpCall& call) { return {*call.op, call.args, call.attributes, {}}; }

// On ones a sum of products counts its terms; the largest count over the result.
std::int64_t terms_counted(OperatorCase operator_case) {
  for (Tensor* tensor : operator_case.tensors()) {
    if (!is_float(tensor->dtype())) continue;
    for (std::int64_t i = 0; i < tensor->size(); ++i) tensor->set_double(i, 1);
  }
  const BuiltCall call = build_call(operator_case);
  const Tensor counts = interpreter().call(call.module, "main", call.values).tensor();
  double largest = 0;
  for (std::int64_t i = 0; i < counts.size(); ++i) largest = std::max(largest, counts.get_double(i));
  return static_cast<std::int64_t>(largest);
}

// Without the operator's own rule: the count on ones, or for averages, which give 1, all elements that there
// are for one result.
std::int64_t terms_guessed(const OperatorCase& operator_case, std::int64_t results) {
  const Tensor& first = *operator_case.tensors().front();
  const bool product = operator_case.tensors().size() > 1 && first.rank() > 0;
  const std::int64_t each =
      product ? first.shape().back() : first.size() / std::max<std::int64_t>(results, 1);
  return std::max({each, terms_counted(operator_case), std::int64_t{1}});
}

}  // namespace

std::string text_of(const Failure& failure) {
  const Diagnostic& first = failure.diagnostics().front();
  return fmt::format("{}: {} [{}]", name_of(first.error_class), first.message, first.id);
}

Agreement agreement_of(const BuiltCall& call) { return agreement_of(view_of(op_call_of(call))); }

Magnitudes magnitudes_of(const OperatorCase& operator_case) {
  OperatorCase absolute = operator_case;
  for (Tensor* tensor : absolute.tensors()) {
    if (!is_float(tensor->dtype())) continue;
    Tensor wide = Tensor::empty(DType::Float64, tensor->shape());
    for (std::int64_t i = 0; i < wide.size(); ++i) wide.set_double(i, std::abs(tensor->get_double(i)));
    *tensor = wide;
  }
  // A dtype that the call asks for would round the sums again.
  std::erase_if(absolute.arguments,
                [](const CaseArgument& argument) { return argument.name == "out_dtype"; });
  const BuiltCall call = build_call(absolute);
  Magnitudes result;
  const Value sums = interpreter().call(call.module, "main", call.values);
  result.sums = sums.tensor();
  const CallView view = view_of(op_call_of(call));
  result.terms = view.op.terms ? std::max<std::int64_t>(view.op.terms(view, type_of(sums)), 1)
                               : terms_guessed(absolute, result.sums.size());
  return result;
}

std::string disagreement_by_class(const OperatorCase& operator_case, const Value& actual,
                                  const Value& wanted) {
  const Agreement agreement = agreement_of(build_call(operator_case));
  const int agreement_class = static_cast<int>(agreement);
  if (agreement != Agreement::Sum || !actual.is_tensor() || !wanted.is_tensor() ||
      !is_float(wanted.tensor().dtype())) {
    return disagreement(actual, wanted, agreement_class);
  }
  const Magnitudes magnitudes = magnitudes_of(operator_case);
  return disagreement(actual.tensor(), wanted.tensor(), agreement_class,
                      {&magnitudes.sums, magnitudes.terms});
}

}  // namespace relish::testing
