// Values of a call to and from the slots of compiled code.
#pragma once

#include <vector>

#include "jit/graph_values.h"
#include "jit/runtime.h"
#include "runtime/value.h"

namespace relish::jit {

// Appends the leaves of `value`. `tensors` receives the tensor leaves in order.
void append_slots(const Value& value, std::vector<std::int64_t>& slots, std::vector<Tensor>& tensors);
std::int64_t slot_of(const ScalarValue& scalar);
ScalarValue scalar_of_slot(std::int64_t slot, DType dtype);

// The value that compiled code left in `slots`: tensors are parameters, constants or made by the call.
Value value_of_slots(const ValueTree& tree, const GraphValues& values, const std::vector<Tensor>& arguments,
                     CallState& state, const std::int64_t* slots, std::size_t& position);

}  // namespace relish::jit
