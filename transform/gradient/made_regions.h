// Regions that differentiation makes, and the values that an if or a loop gives.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/builder.h"
#include "transform/gradient/adjoint.h"

namespace relish {

// Ends the region that is open, as reading gives one: a binding at its end that only names a result is none.
Region closed_region(FunctionBuilder& builder, std::vector<Expr> results);
// What an if or a loop gives, one variable each; they stand right behind it, as reading has them.
std::vector<Expr> fields_of(FunctionBuilder& builder, const Expr& value,
                            const std::vector<std::string>& names, Span span);
// The adjoints of what an if or a loop gives: of its one value, or by field.
std::vector<Adjoint> by_result(const Adjoint& adjoint, std::size_t count);

}  // namespace relish
