// Compile-time values: arguments of operators that are attributes, and the dictionaries of func_attr.
#pragma once

#include "frontend/context.h"
#include "ir/attribute.h"

namespace relish {

// A literal, a list, tuple or dictionary of them, R.dtype("…"), R.str("…") or T.float32(1): TypeError
// otherwise.
Attribute read_attribute(const ReadContext& context, const ast::Expr& expr);
// The dictionary written as the only argument of `call`; keys are strings. "tir." and "tirx." prefixes are
// dropped.
Attributes read_attribute_dictionary(const ReadContext& context, const ast::Expr& call);

}  // namespace relish
