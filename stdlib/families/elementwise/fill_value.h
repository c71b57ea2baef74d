// Numbers of a text that become elements of a tensor: padding, replacements, ends.
#pragma once

#include <optional>
#include <string_view>

#include "ir/operators/op.h"
#include "stdlib/families/language/lowering.h"

namespace relish {

// Rejects by `parameter` a number that no element of the dtype holds: of a floating dtype a finite one that
// would become infinite, of any other one that is not exactly an element.
void require_element(const CallView& call, std::string_view parameter, double number, Span at,
                     std::optional<DType> dtype);
// The same, but of an integer dtype what follows the point is cut off, and an infinity is an end.
void require_in_range(const CallView& call, std::string_view parameter, double number, Span at,
                      std::optional<DType> dtype);
// require_in_range of argument `i`, where it is a number that the text writes: a scalar, or a constant of one
// element.
void require_in_range(const CallView& call, std::size_t i, std::string_view parameter,
                      std::optional<DType> dtype);
// In a nest: a scalar that only a run knows, `value`, is held to the same.
void require_in_range(Lowering& lowering, std::size_t i, const Scalar& value, DType dtype);

}  // namespace relish
