// The layout that a prim_func declares for a buffer parameter (strides, elem_offset) against the tensor that
// comes: tensors are row-major from their first element, so symbols in a layout take those values, and a
// layout that says otherwise is refused. One rule for both tiers.
#pragma once

#include <string_view>

#include "ir/calls/entry.h"
#include "ir/nodes/scalar.h"

namespace relish {

// Gives bare variables of the layout their values where they have none yet. `shape`: of the tensor.
void bind_layout(const Buffer& buffer, const Shape& shape, SymbolValues& symbols);
// Fails with `error_class` at `span` when the layout is not that of a row-major tensor.
void check_layout(const Buffer& buffer, const Shape& shape, const SymbolValues& symbols,
                  ErrorClass error_class, Span span, std::string_view what);

}  // namespace relish
