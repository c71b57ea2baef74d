// The functions of TVM's virtual machine that modules call once they are lowered to it: "vm.builtin.reshape",
// "vm.builtin.match_shape" and their like. They are part of the program and need no library. A shape heap is
// a tensor of int64 that they and prim_funcs write to in place, as lowered modules mean it.
#pragma once

#include <span>
#include <string_view>

#include "runtime/value.h"
#include "support/source.h"

namespace relish {

// A promise of room for tensors.
struct StorageObject final : ObjectValue {
  explicit StorageObject(std::int64_t n) : bytes(n) {}
  std::string describe() const override;
  std::int64_t bytes;
};

// RuntimeError at `span` for arguments that do not fit; `name` is the function's.
using MachineFunction = Value (*)(std::string_view name, std::span<const Value> args, Span span);
// Null for a name that is none of these functions.
MachineFunction machine_function(std::string_view name);

}  // namespace relish
