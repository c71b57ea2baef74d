// Memory as lowered modules ask for it: storages, tensors in them, and the arguments of these operators
// (device numbers and scopes, which have one meaning on a CPU; dtypes as values). A storage is a promise of
// room: each tensor in it gets memory of its own, so no plan can make one tensor overwrite another.
#pragma once

#include <optional>

#include "runtime/machine.h"
#include "stdlib/families/shapes/shapes.h"

namespace relish {

// The dtype that argument `i` is; nothing when only a run tells. Rejects by "dtype".
std::optional<DType> dtype_argument(const CallView& call, std::size_t i);
DType dtype_value(const Value& value);
// Rejects by "scope" when argument `i` is there and no text.
void require_scope(const CallView& call, std::size_t i);
// Rejects by "index" when argument `i` is there and no integer.
void require_integer(const CallView& call, std::size_t i);
// Rejects by "storage" when argument `i` cannot be a storage.
void require_storage(const CallView& call, std::size_t i);

// The type of a tensor with the shape and the dtype that are arguments.
Type allocated_type(const CallView& call, std::size_t shape, std::size_t dtype);
Value allocated_tensor(const EvalCall& c, std::size_t shape, std::size_t dtype);
// A storage for a shape of elements of a dtype.
Value allocated_storage(const EvalCall& c, std::size_t shape, std::size_t dtype);
// A tensor at an offset of a storage: (storage, offset, shape, dtype). RuntimeError when it does not fit.
Type tensor_in_storage_type(const CallView& call);
Value tensor_in_storage(const EvalCall& c);

// The operators alloc_storage(shape, device, ...), all but their names; the places of the other two arguments
// differ, and are looked at in their order.
template <std::size_t dtype, std::size_t scope>
constexpr Op storage_op(Op op) {
  op.summary = "Room for tensors.";
  op.infer = [](const CallView& call) -> Type {
    shape_argument(call, 0);
    require_integer(call, 1);
    if constexpr (scope < dtype) require_scope(call, scope);
    dtype_argument(call, dtype);
    if constexpr (scope > dtype) require_scope(call, scope);
    return Type();
  };
  op.eval = [](const EvalCall& c) -> Value { return allocated_storage(c, 0, dtype); };
  op.no_gradient = "the result is no tensor";
  op.agreement = Agreement::DataMovement;
  return op;
}

// The operators alloc_tensor, all but their names; `storage_doc` says where the storage comes from.
constexpr std::array<Param, 5> tensor_in_storage_params(std::string_view storage_doc) {
  return {{{"storage", ParamKind::Any, "storage", "", storage_doc},
           {"offset", ParamKind::Scalar, "int", "", "first byte in the storage"},
           {"shape", ParamKind::Shape, "shape", "", "shape of the tensor"},
           {"dtype", ParamKind::Any, "dtype", "", "its element type"},
           {"runtime_device_index", ParamKind::Scalar, "int or None", "None",
            "number of the device; there is one"}}};
}
constexpr Op tensor_in_storage_op(Op op) {
  op.summary = "A tensor in a storage, for a prim_func to write to.";
  op.infer = tensor_in_storage_type;
  op.eval = tensor_in_storage;
  op.no_gradient = "its elements are written by other calls";
  op.agreement = Agreement::DataMovement;
  op.doc = "A tensor that does not fit is a RuntimeError. Its elements are zero before they are written.";
  return op;
}

// Operators that end a life, of which they only check the argument: memory is freed behind the last use of a
// value.
constexpr Op end_of_life_op(Op op) {
  op.eval = [](const EvalCall&) -> Value { return {}; };
  op.no_gradient = "it has no result";
  op.pure = false;
  op.agreement = Agreement::DataMovement;
  op.doc = "Memory is freed behind the last use of a value, with or without it.";
  return op;
}

}  // namespace relish
