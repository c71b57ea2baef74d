// Which argument of a call goes to which parameter of a module's function, and the refusals of those that go
// to none: for calls, and for whoever looks at a call before it is made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/script/convert.h"
#include "shell/script/operator_call.h"

namespace relish {

// What the namespace R makes at top level without an operator.
inline constexpr std::string_view relax_values[] = {"const", "shape", "ShapeExpr",  "tuple",
                                                    "dtype", "str",   "prim_value", "null_value"};

// One for each parameter. UsageError for an argument that is surplus, given twice, unknown or missing.
std::vector<const NamedValue*> placed_arguments(const std::string& function,
                                                const std::vector<CallParameter>& parameters,
                                                const std::vector<NamedValue>& arguments, Span span);
// m(x, *params) of a dict gives its names, which no parameter of these types takes: TypeError.
void refuse_starred_names(const std::string& function, const std::vector<CallParameter>& parameters,
                          const std::vector<NamedValue>& arguments);
// UsageError for an option that the command does not have; `value`: what it was given, where that is known.
[[noreturn]] void unknown_option(std::string_view command, const std::vector<std::string>& options,
                                 const std::string& given, Span span, const ScriptValue* value = nullptr);

}  // namespace relish
