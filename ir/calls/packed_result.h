// What a native function returned, as the type of its call: the same for both tiers.
#pragma once

#include <string>

#include "ir/calls/entry.h"
#include "ir/nodes/expr.h"

namespace relish {

// The value of the call: void when the type is, numbers in the type's dtype, anything where the type is open.
// RuntimeError at `span` when the value does not fit; binds and checks symbols as match_value does.
Value packed_result(const std::string& name, Value returned, const Type& type, SymbolValues& symbols,
                    Span span);

// PolicyError: R.call_builtin_with_ctx, which gives a function the context of TVM's virtual machine.
[[noreturn]] void refuse_machine_call(const std::string& name, Span span);

// Whether the call is of a function of TVM's virtual machine, which is part of the program.
bool is_machine_call(const PackedCall& call, const std::string& symbol);

// The type of one destination of R.call_dps_packed; TypeError at `span` when it does not tell what to
// allocate.
const TensorType& destination_type(const Type& type, Span span);

// Whether argument `index` is one that the function of R.call_inplace_packed changes.
bool is_changed_in_place(const PackedCall& call, std::size_t index);

// Whether the results of R.call_inplace_packed are the changed arguments; else the call has the one value
// that the function returns. RuntimeError at `span` for several results of which some are not arguments.
bool results_in_place(const PackedCall& call, Span span);

}  // namespace relish
