// The two older ways of Python to put values into a text: "%d of %s" % (n, name) and "{} of
// {name}".format(…).
#pragma once

#include <string>
#include <vector>

#include "shell/script/operator_call.h"

namespace relish {

// `values` is a tuple of them, a dict for %(name)s, or the only one. RuntimeError and TypeError at `span` for
// what does not fit.
std::string format_by_percent(const std::string& text, const ScriptValue& values, Span span);
std::string format_by_braces(const std::string& text, const std::vector<NamedValue>& values,
                             const std::vector<NamedValue>& names, Span span);
// What !r, !s and !a make of a value.
std::string converted_text(const ScriptValue& value, char conversion);

}  // namespace relish
