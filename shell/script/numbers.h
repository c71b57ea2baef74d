// Python's arithmetic on script numbers: int64 with overflow as an error, float64, bool as int.
#pragma once

#include <cstdint>

#include "frontend/text/ast.h"
#include "shell/script/script_value.h"

namespace relish {

// `a op b` of two numbers (int, float, bool). RuntimeError for division by zero, overflow and a negative base
// with a fractional exponent; TypeError for operators that the kinds do not have (bits of floats, @).
ScriptValue number_operation(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);
ScriptValue number_prefix(ast::PrefixOperator op, const ScriptValue& a, Span span);

// TypeError: the operator has no meaning for values of these kinds.
[[noreturn]] void no_operator(ast::Operator op, const ScriptValue& a, const ScriptValue& b, Span span);

// -1, 0, 1 by exact value (an int and a float are not rounded to each other); 2 when a NaN is among them.
int compare_numbers(const ScriptValue& a, const ScriptValue& b);

// int(x), round(x): RuntimeError when the value does not fit int64 or is NaN.
std::int64_t truncate_to_int(double value, Span span);
// Ties to even.
double round_half_even(double value);

// Adds with overflow check; RuntimeError.
std::int64_t checked_add(std::int64_t a, std::int64_t b, Span span);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b, Span span);

}  // namespace relish
