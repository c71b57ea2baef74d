// Comparison of script values: Python's `==`, and the order of numbers, strings and sequences that `<`,
// sorted, min and max go by.
#pragma once

#include <functional>

#include "shell/script/script_value.h"

namespace relish {

enum class Order : std::uint8_t { Less, Equal, Greater, None };  // None: a NaN

// The order of two values, lexicographic for strings and sequences. `refuse` is called for two that have none
// and throws.
using RefuseOrder = std::function<void(const ScriptValue& a, const ScriptValue& b)>;
Order order_of(const ScriptValue& a, const ScriptValue& b, Span span, const RefuseOrder& refuse);

}  // namespace relish
