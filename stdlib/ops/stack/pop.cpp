// Taking the top off a stack.
#include "ir/calls/entry.h"
#include "ir/printer/printer.h"
#include "stdlib/families/language/stacks.h"

namespace relish::ops_stack_pop {
namespace {

constexpr Param params[] = {stack_param};

Type infer(const CallView& call) {
  const Type& element = element_type(call, 0);
  return TupleType{{stack_type(element), element}};
}

Value evaluate(const EvalCall& c) {
  const StackValue::Pointer stack = stack_value(c, 0);
  if (stack->size() == 0) fail(ErrorClass::Runtime, c.call.span, "pop.empty", "pop: the stack is empty");
  // What came from outside may hold other values than the type of the parameter says.
  const Type& element = c.result_type.tuple()->fields[1];
  if (!alike(element, type_of(stack->top()))) {
    fail(ErrorClass::Runtime, c.call.span, "pop.type",
         fmt::format("pop: the top is {}, the stack's type says {}", describe(stack->top()), print(element)));
  }
  return Value::tuple({Value(std::shared_ptr<const ObjectValue>(stack->below())), stack->top()});
}

// The cotangent of a stack is a stack of cotangents.
std::vector<std::optional<Expr>> vjp(const VjpCall& c) {
  return {c.builder.call("stack.push", {c.builder.emit(tuple_get(c.cotangent, 0, c.call.span)),
                                        c.builder.emit(tuple_get(c.cotangent, 1, c.call.span))})};
}

constexpr Sample samples[] = {{"R.stack.push(R.stack.new(), tensor([1.0, 2.0]))", "", false},
                              {"R.stack.push(R.stack.push(R.stack.new(), tensor(1)), tensor(2))", "", false}};
constexpr Reject rejects[] = {{"pop.stack", "tensor([1.0])", "expected a stack"}};

}  // namespace

extern const Op op_stack_pop{
    .name = "stack.pop",
    .summary = "The stack without its top, and the top: a tuple.",
    .params = params,
    .infer = infer,
    .eval = evaluate,
    .vjp = vjp,
    .gradient_doc = "the stack of cotangents with that of the top pushed",
    .agreement = Agreement::DataMovement,
    .samples = samples,
    .rejects = rejects,
    .doc = "Popping an empty stack is a RuntimeError. The stack that is given stays as it is."};

}  // namespace relish::ops_stack_pop
