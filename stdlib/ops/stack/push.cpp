// Pushing on a stack.
#include "ir/printer/printer.h"
#include "stdlib/families/language/stacks.h"

namespace relish::ops_stack_push {
namespace {

constexpr Param params[] = {stack_param, {"value", ParamKind::Any, "any", "", "the new top"}};

Type infer(const CallView& call) {
  const Type& element = element_type(call, 0);
  const Type& value = call.args[1].type();
  if (!alike(element, value)) {
    call.reject("value", call.span_of(1),
                fmt::format("value is {}, the stack holds {}", print(value), print(element)));
  }
  return stack_type(join(element, value));
}

Value evaluate(const EvalCall& c) {
  return std::shared_ptr<const ObjectValue>(std::make_shared<const StackValue>(stack_value(c, 0), c.args[1]));
}

// The cotangent of a stack is a stack of cotangents.
std::vector<std::optional<Expr>> vjp(const VjpCall& c) {
  const Expr popped = c.builder.call("stack.pop", {c.cotangent});
  return {c.builder.emit(tuple_get(popped, 0, c.call.span)),
          c.builder.emit(tuple_get(popped, 1, c.call.span))};
}

constexpr Sample samples[] = {{"R.stack.new(), tensor([1.0, 2.0])", "", false},
                              {"R.stack.push(R.stack.new(), tensor([1, 2])), tensor([3, 4])", "", false},
                              {"R.stack.push(R.stack.new(), 1.5), 2.5", "", false}};
constexpr Reject rejects[] = {
    {"push.stack", "tensor([1.0]), tensor([1.0])", "expected a stack"},
    {"push.value", "R.stack.push(R.stack.new(), tensor([1.0])), tensor([1])",
     "value is R.Tensor((1,), dtype=\"int64\"), the stack holds"},
    {"push.value", "R.stack.push(R.stack.new(), tensor([1.0])), tensor([[1.0]])", "the stack holds"}};

}  // namespace

extern const Op op_stack_push{
    .name = "stack.push",
    .summary = "The stack with a value on its top.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .vjp = vjp,
    .gradient_doc = "the stack of cotangents without its top, and the top",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc =
        "The value has the kind, dtype and rank of the others; where dimensions differ they become unknown "
        "in "
        "the type of the result. The stack that is given stays as it is; the new one shares it."};

}  // namespace relish::ops_stack_push
