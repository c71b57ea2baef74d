// Compile-time values: arguments of operators that are attributes, and the dictionaries of func_attr.
#pragma once

#include <functional>
#include <optional>

#include "frontend/context.h"
#include "ir/nodes/attribute.h"
#include "ir/printer/reserved_names.h"
#include "runtime/literal.h"

namespace relish {

// The value of + - * / // % ** and signs between plain numbers, with Python's meaning; nothing for anything
// else, for a division by zero and for what no int64 holds.
std::optional<LiteralNumber> literal_arithmetic(const ast::Expr& expr);
// The same with names of numbers and dimensions: `number` tells what a name or subscript is, null where it is
// no number.
using NumberOf = std::function<const ast::Expr*(const ast::Expr& name)>;
std::optional<LiteralNumber> literal_arithmetic(const ast::Expr& expr, const NumberOf& number);

// A literal, a list, tuple or dictionary of them, R.dtype("…"), R.str("…") or T.float32(1): TypeError
// otherwise, and for a key of a dictionary that is the language's and not one of `place`.
Attribute read_attribute(const ReadContext& context, const ast::Expr& expr,
                         NamePlace place = NamePlace::Nested);
// The dictionary written as the only argument of `call`; keys are strings. "tir." and "tirx." prefixes are
// dropped. Entries that `left_out` says so of are not read.
using LeftOut = std::function<bool(const ast::Expr& key, const ast::Expr& value)>;
Attributes read_attribute_dictionary(const ReadContext& context, const ast::Expr& call, NamePlace place,
                                     const LeftOut& left_out = nullptr);
// TypeError for a name or a scope that is the language's.
void refuse_reserved(NamePlace place, std::string_view name, const Attribute& value, Span span);
void refuse_reserved_scope(std::string_view scope, Span span);

}  // namespace relish
