// The adjoint of one variable: nothing yet, a value, or one for each field of a tuple.
#pragma once

#include <vector>

#include "ir/nodes/expr.h"

namespace relish {

struct Adjoint {
  Expr value;                        // undefined: nothing yet, or a tuple
  std::vector<Adjoint> fields = {};  // of a tuple-typed variable
  bool by_rows = false;              // of a table: it grows row by row, in place

  bool empty() const {
    if (value.defined()) return false;
    for (const Adjoint& field : fields)
      if (!field.empty()) return false;
    return true;
  }
};

inline bool is_float_tensor(const Type& type) {
  const TensorType* tensor = type.tensor();
  return tensor && tensor->dtype && is_float(*tensor->dtype);
}

// Whether a gradient of the type has values: a floating tensor, or a tuple or stack with one in it.
inline bool has_floats(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    for (const Type& field : tuple->fields)
      if (has_floats(field)) return true;
    return false;
  }
  if (const auto* stack = type.as<StackType>()) return has_floats(*stack->element);
  return is_float_tensor(type);
}

// Whether values of the type may hold floats that the type does not tell of, so that a gradient would be
// lost.
inline bool may_hide_floats(const Type& type) {
  if (const TupleType* tuple = type.tuple()) {
    for (const Type& field : tuple->fields)
      if (may_hide_floats(field)) return true;
    return false;
  }
  if (const auto* stack = type.as<StackType>()) return may_hide_floats(*stack->element);
  if (const TensorType* tensor = type.tensor()) return !tensor->dtype;
  return type.as<AnyType>() != nullptr;
}

}  // namespace relish
