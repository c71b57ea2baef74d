// Slots to arguments of native functions, and results to slots.
#include "jit/runtime/native_calls.h"

#include "ir/calls/packed_result.h"
#include "jit/runtime/marshal.h"
#include "jit/runtime/runtime.h"
#include "runtime/native.h"
#include "support/failure.h"

namespace relish::jit {
namespace {

NativeArgument argument_of(const NativeCall& call, std::size_t index, const std::int64_t* slots) {
  const ValueTree& tree = call.args[index];
  const auto dims = [&](const std::int64_t* begin) {
    return std::span(begin, static_cast<std::size_t>(tree.rank));
  };
  switch (tree.kind) {
    case ValueTree::TensorLeaf:
      return NativeTensor{reinterpret_cast<void*>(static_cast<std::intptr_t>(slots[0])), tree.dtype,
                          dims(slots + 1)};
    case ValueTree::ShapeLeaf:
      return NativeShape{dims(slots)};
    case ValueTree::ScalarLeaf:
      return scalar_of_slot(slots[0], tree.dtype);
    case ValueTree::TextLeaf:
      return native_argument(Value(tree.text), call.name, index, call.span);
    case ValueTree::BoxLeaf:
      return native_argument(reinterpret_cast<const Box*>(static_cast<std::intptr_t>(slots[0]))->value,
                             call.name, index, call.span);
    case ValueTree::Tuple:
      break;
  }
  // No code reads fields, which native_argument refuses; of none it makes the empty value.
  return native_argument(tree.fields.empty() ? Value() : Value::tuple(std::vector<Value>(tree.fields.size())),
                         call.name, index, call.span);
}

// Dims are left to compiled code, but a value of another kind is told with the type as it is written.
Value checked(const NativeCall& call, const Value& returned) {
  SymbolValues none;
  try {
    return packed_result(call.name, returned, call.checked_type, none, call.span);
  } catch (const Failure&) {
    packed_result(call.name, returned, call.result_type, none, call.span);
    throw;
  }
}

}  // namespace

extern "C" std::int32_t rt_native_call(RtContext* context, const NativeCall* call, const std::int64_t* in,
                                       std::int64_t* out) {
  try {
    NativeFunctions::instance().find(call->name, call->span);
    std::vector<NativeArgument> args;
    std::size_t position = 0;
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      args.push_back(argument_of(*call, i, in + position));
      position += slot_count(call->args[i]);
    }
    const Value returned = checked(*call, call_native(call->name, args, call->span));
    position = 0;
    result_to_slots(returned, call->result, call->span, *context->state, out, position);
    return status_ok;
  } catch (...) {
    context->state->keep_failure();
    return status_exception;
  }
}

}  // namespace relish::jit
