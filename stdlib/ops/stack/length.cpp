// How much a stack holds.
#include "stdlib/families/language/stacks.h"

namespace relish::ops_stack_length {
namespace {

constexpr Param params[] = {stack_param};

Type infer_length(const CallView& call) {
  element_type(call, 0);
  return ScalarType{DType::Int64};
}

Type infer_empty(const CallView& call) {
  element_type(call, 0);
  return tensor_type({}, DType::Bool);
}

Value evaluate_length(const EvalCall& c) { return ScalarValue::of_int(stack_value(c, 0)->size()); }
Value evaluate_empty(const EvalCall& c) {
  return Tensor::scalar_int(DType::Bool, stack_value(c, 0)->size() == 0);
}

constexpr Sample length_samples[] = {{"R.stack.new()"}, {"R.stack.push(R.stack.new(), 1.5)"}};
constexpr Sample empty_samples[] = {{"R.stack.new()", "True"}, {"R.stack.push(R.stack.new(), 1.5)", "False"}};
constexpr Reject length_rejects[] = {{"length.stack", "tensor([1.0])", "expected a stack"}};
constexpr Reject empty_rejects[] = {{"empty.stack", "tensor([1.0])", "expected a stack"}};

}  // namespace

extern const Op op_stack_length{.name = "stack.length",
                                .summary = "The number of values on a stack, an int64 scalar.",
                                .params = params,
                                .infer = infer_length,
                                .eval = evaluate_length,
                                .no_gradient = "the result is an integer",
                                .zero_gradient = true,
                                .agreement = Agreement::Exact,
                                .samples = length_samples,
                                .rejects = length_rejects,
                                .doc = "As the bound of a range it gives a loop that takes a stack apart."};

extern const Op op_stack_empty{.name = "stack.empty",
                               .summary = "Whether a stack holds nothing.",
                               .params = params,
                               .infer = infer_empty,
                               .eval = evaluate_empty,
                               .no_gradient = "the result is a truth value",
                               .zero_gradient = true,
                               .agreement = Agreement::Exact,
                               .samples = empty_samples,
                               .rejects = empty_rejects};

}  // namespace relish::ops_stack_length
