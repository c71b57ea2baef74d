// Script values on their way into Relax functions: what a parameter's type takes, and numbers beside tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes/module.h"
#include "shell/script/script_value.h"

namespace relish {

// A parameter that a caller gives: of a Relax function each one, of a prim_func those that are not results
// only.
struct CallParameter {
  std::string name;
  Type type;
  Span span;
  std::string handle = {};  // its other name: of the T.handle of a prim_func's buffer
};
// TypeError when the module has no such function.
std::vector<CallParameter> call_parameters(const Module& module, std::string_view function);

// The value as a parameter of type `wanted` takes it; `what` ("argument x of f") begins the message of a
// DataError. Numbers become scalars of R.Prim parameters, sequences of ints shapes, sequences tuples; numbers
// and nested lists become the tensor that a parameter wants.
Value to_runtime(const ScriptValue& value, const Type& wanted, Span span, std::string_view what);

// A number beside a tensor of `dtype`: a 0-d tensor of that dtype. TypeError when it is no value of that
// kind: a float beside integers, an int that the dtype cannot hold exactly.
Tensor number_beside(const ScriptValue& number, DType dtype, Span span);
// The same for nested lists of numbers.
Tensor list_beside(const ScriptValue& list, DType dtype, Span span);

// Nested sequences of numbers as a tensor. Without `dtype`: bool, `int_dtype` or `float_dtype` by the
// numbers. TypeError for ragged or empty-and-untyped lists and for other elements.
Tensor tensor_of(const ScriptValue& nested, std::optional<DType> dtype, DType int_dtype, DType float_dtype,
                 Span span);

// (2, 3), [2, 3], a shape or a single int as dimensions; TypeError otherwise, and for negative ones unless
// `any_int`: an operator's own rule says what -1 means.
Shape shape_of(const ScriptValue& value, Span span, bool any_int = false);
// A shape as the tuple of its ints, which it stands for; any other value as it is.
ScriptValue shape_as_tuple(const ScriptValue& value);
// "float32"; TypeError otherwise.
DType dtype_of_value(const ScriptValue& value, Span span);
// An int, bool or 0-d tensor of integers; nothing for other values.
std::optional<std::int64_t> whole_number_of(const ScriptValue& value);
// The same as an index; TypeError otherwise.
std::int64_t index_of(const ScriptValue& value, Span span, std::string_view what);

}  // namespace relish
