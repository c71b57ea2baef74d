// Numbers of a text that become elements of a tensor: padding, replacements.
#pragma once

#include <optional>
#include <string_view>

#include "ir/op.h"

namespace relish {

// Rejects by `parameter` a number that no element of the dtype holds: of a floating dtype a finite one that
// would become infinite, of any other one that is not exactly an element.
void require_element(const CallView& call, std::string_view parameter, double number, Span at,
                     std::optional<DType> dtype);

}  // namespace relish
