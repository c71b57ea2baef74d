// Stack arguments.
#include "stdlib/families/language/stacks.h"

#include "ir/printer/printer.h"

namespace relish {

const Type& element_type(const CallView& call, std::size_t i) {
  static const Type unknown;
  const Type& type = call.args[i].type();
  if (const auto* stack = type.as<StackType>()) return *stack->element;
  if (type.as<AnyType>() || type.is_error()) return unknown;
  call.reject("stack", call.span_of(i),
              fmt::format("{} is {}, expected a stack", call.op.params[i].name, print(type)));
}

StackValue::Pointer stack_value(const EvalCall& call, std::size_t i) {
  StackValue::Pointer stack = stack_of(call.args[i]);
  if (!stack) {
    fail(ErrorClass::Runtime, call.call.span, fmt::format("{}.stack", short_name_of(call.call.op)),
         fmt::format("{}: {} is {}, expected a stack", short_name_of(call.call.op),
                     call.call.op.params[i].name, describe(call.args[i])));
  }
  return stack;
}

Type stack_type(Type element) { return StackType{std::make_shared<const Type>(std::move(element))}; }

bool alike(const Type& element, const Type& value) {
  if (element.as<AnyType>() || value.as<AnyType>() || value.is_error()) return true;
  const TensorType *t = element.tensor(), *u = value.tensor();
  if (t && u)
    return (!t->dtype || !u->dtype || t->dtype == u->dtype) &&
           (t->rank < 0 || u->rank < 0 || t->rank == u->rank);
  const TupleType *fields = element.tuple(), *given = value.tuple();
  if (fields && given)
    return fields->fields.size() == given->fields.size() &&
           std::equal(fields->fields.begin(), fields->fields.end(), given->fields.begin(), alike);
  const auto *shape = element.as<ShapeType>(), *dims = value.as<ShapeType>();
  if (shape && dims) return shape->rank < 0 || dims->rank < 0 || shape->rank == dims->rank;
  const auto *stack = element.as<StackType>(), *inner = value.as<StackType>();
  if (stack && inner) return alike(*stack->element, *inner->element);
  return fits(value, element) != Fit::Never;
}

}  // namespace relish
