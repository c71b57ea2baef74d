// Entry of a call: solves symbolic dimensions from the argument values and checks every argument against its
// parameter, the same way for both tiers.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "ir/nodes/module.h"
#include "runtime/value.h"

namespace relish {

// Values of symbolic variables by id.
using SymbolValues = std::unordered_map<std::uint64_t, std::int64_t>;

// Solves the symbolic dims of `params` from `args` (bare variables first, then expressions are checked); a
// value that does not fit is a DataError naming parameter, found and expected type (a RuntimeError for calls
// that a function makes). `function_name` is for messages. A dimension that no tensor or shape determines
// takes the value of the scalar parameter of its name and dtype. `symbols`: those with a value already, of
// what is around a nested function; they are checked and part of the result.
SymbolValues bind_arguments(std::string_view function_name, std::span<const Var> params,
                            std::span<const Value> args, SymbolValues symbols = {},
                            ErrorClass error_class = ErrorClass::Data);
// The same for a whole function: also dimensions that only its body mentions take the values of scalar
// parameters.
SymbolValues bind_arguments(const Function& function, std::span<const Value> args, SymbolValues known = {},
                            ErrorClass error_class = ErrorClass::Data);
// One value against one type: binds new variables in `symbols`, checks known ones. The message starts with
// `what`; `error_class` DataError at the entry, RuntimeError for match_cast.
void match_value(const Value& value, const Type& type, SymbolValues& symbols, ErrorClass error_class,
                 Span span, std::string_view what);
// The type with every symbolic dim replaced by its value; RuntimeError when one is unknown.
Type concrete_type(const Type& type, const SymbolValues& symbols);
// Shape of a concrete tensor type.
Shape concrete_shape(const TensorType& type);
Type type_of(const Value& value);
// The truth of what an if or a while asks: a bool scalar or a 0-d bool tensor; RuntimeError otherwise.
bool condition_of(const Value& value, Span span);

}  // namespace relish
