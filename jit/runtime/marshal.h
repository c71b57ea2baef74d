// Values of a call to and from the slots of compiled code.
#pragma once

#include <vector>

#include "jit/runtime/host_calls.h"
#include "jit/runtime/runtime.h"
#include "jit/steps/steps.h"
#include "runtime/value.h"

namespace relish::jit {

// The slots of the arguments of the whole call, and their tensors and boxed values as leaves. The arguments
// must stay where they are while it runs.
void slots_of_arguments(std::vector<Value>& args, const FunctionLayout& layout, CallState& state);
// The tensors that the layout says are given up become the call's; `back`: the caller may have them again.
void give_up(const FunctionLayout& layout, CallState& state, bool back);
// The arguments as they were. Nothing of them is lost.
void give_back(const FunctionLayout& layout, CallState& state);
// The value that compiled code left in the slots. Tuples of arguments that were given up whole are made into
// those of the result.
Value result_of_call(std::vector<Value>& args, const FunctionLayout& layout, CallState& state);
// Appends the leaves of `value`. `tensors` receives the tensor leaves in order.
void append_slots(const Value& value, std::vector<std::int64_t>& slots, std::vector<Tensor>& tensors);
std::int64_t slot_of(const ScalarValue& scalar);
ScalarValue scalar_of_slot(std::int64_t slot, DType dtype);

// The value of an argument that compiled code passes to the program: tensors that it made are shared, other
// memory is copied. Text has no slots and comes as an empty string.
Value argument_of_slots(const ValueTree& tree, CallState& state, const std::int64_t* slots,
                        std::size_t& position);
// The values that compiled code hands to a host call.
std::vector<Value> arguments_of(const HostCall& host, CallState& state, const std::int64_t* in);
// The slots of a result that the program hands to compiled code; its tensors become the call's. RuntimeError
// at `span` when the value is not of the shape of the tree.
void result_to_slots(const Value& value, const ValueTree& tree, Span span, CallState& state,
                     std::int64_t* slots, std::size_t& position);

}  // namespace relish::jit
