// The type of a value that comes on several ways: the results of an if, what a loop carries.
#pragma once

#include <string_view>

#include "ir/nodes/expr.h"

namespace relish {

// The join of both types. Failure(TypeError) when the ways differ in kind, dtype or rank, with both places;
// `what` names the value in the message.
Type common_type(const Expr& a, const Expr& b, std::string_view what, Span span);

}  // namespace relish
