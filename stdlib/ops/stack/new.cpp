// Empty stacks.
#include "stdlib/families/language/stacks.h"

namespace relish::ops_stack_new {
namespace {

Type infer(const CallView&) { return stack_type(Type()); }

Value evaluate(const EvalCall&) {
  return std::shared_ptr<const ObjectValue>(std::make_shared<const StackValue>());
}

constexpr Sample samples[] = {{""}};

}  // namespace

extern const Op op_stack_new{
    .name = "stack.new",
    .summary = "An empty stack.",
    .infer = infer,
    .eval = evaluate,
    .no_gradient = no_stack_gradient,
    .zero_gradient = true,
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .doc =
        "R.stack.new(T) is a stack for values of the type T, as in R.stack.new(R.Tensor((2,), \"float32\")): "
        "an "
        "empty stack cast to R.Stack(T). Without a type it takes values of any type, and gives them back as "
        "R.Any."};

}  // namespace relish::ops_stack_new
