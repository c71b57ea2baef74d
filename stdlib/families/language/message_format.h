// Format texts of R.print and R.assert_op: Python's `{}` and `{0}` for values that are shown as text, `{{`
// and
// `}}` for braces.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/operators/op.h"

namespace relish {

// Rejects by "format" what is no format text of `count` values: a lone brace, a conversion such as `{:.2f}`
// (values are shown as text), a value that is not there, numbered and unnumbered fields together.
void check_format(const CallView& call, std::string_view format, std::size_t count);
// The text of a checked format.
std::string formatted(std::string_view format, std::span<const Value> values);
// A value as `print` shows it; of a 0-d tensor the number alone.
std::string shown(const Value& value);

}  // namespace relish
