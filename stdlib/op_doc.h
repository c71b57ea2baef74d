// The reference of operators as text, generated from the table: `relish doc NAME`, docs/operators.md. Nothing
// here is written by hand a second time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operators/op.h"

namespace relish {

// "R.sum(x, axis=None, keepdims=False)".
std::string op_signature(const Op& op);
// Signature, summary, parameters, gradient, agreement, `examples` (indented lines, or none) and notes, for a
// terminal.
std::string op_doc(const Op& op, std::string_view examples = "");
// All operators as one Markdown page.
std::string operators_markdown();

// What an operator name of older releases is called or made of today: "nn.dense" -> "matmul(x,
// permute_dims(w))".
std::optional<std::string_view> successor_of(std::string_view old_name);

}  // namespace relish
