// What the operators of R.stack share: the type rule of a stack argument.
#pragma once

#include "ir/operators/op.h"
#include "runtime/stack.h"

namespace relish {

// The type of the elements of argument `i`; rejects by "stack" what is no stack.
const Type& element_type(const CallView& call, std::size_t i);
// The stack that argument `i` is; RuntimeError when the value is none.
StackValue::Pointer stack_value(const EvalCall& call, std::size_t i);
Type stack_type(Type element);
// Whether a value of the one type can lie on a stack of the other: of the same kind, dtype and rank.
bool alike(const Type& element, const Type& value);

inline constexpr Param stack_param = {"stack", ParamKind::Any, "stack", "", "a stack, R.Stack(T)"};
inline constexpr std::string_view no_stack_gradient = "a stack is taken apart by the program that holds it";

}  // namespace relish
