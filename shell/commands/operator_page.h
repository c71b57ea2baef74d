// Pages of the operator reference, made from the operators' declarations.
#pragma once

#include <string>

#include "ir/op.h"

namespace relish {

// "add(x1: tensor, x2: tensor)".
std::string operator_signature(const Op& op);
// The page of one operator, as plain text or markdown.
std::string operator_page(const Op& op, bool markdown = false);
// One JSON object a line: name, summary, params, class, gradient, reason, lowering, samples, aliases.
std::string operator_json(const Op& op);
std::string operators_manual();
// A row an operator: class and which hooks it has.
std::string operator_coverage();

}  // namespace relish
