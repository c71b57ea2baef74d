// Regions that differentiation makes, and the values that an if or a loop gives.
#pragma once

#include <string>
#include <vector>

#include "ir/nodes/builder.h"
#include "ir/rewriting/rewrite.h"
#include "transform/gradient/adjoint.h"
#include "transform/gradient/cut.h"

namespace relish {

// Ends the region that is open, as reading gives one: a binding at its end that only names a result is none.
Region closed_region(FunctionBuilder& builder, std::vector<Expr> results);
// What an if or a loop gives, one variable each; they stand right behind it, as reading has them.
std::vector<Expr> fields_of(FunctionBuilder& builder, const Expr& value,
                            const std::vector<std::string>& names, Span span);
// What a loop or if gave before has its variable, named as `names` say where there are several, and each
// thing that was added one of its own.
void append_completed(const Binding& binding, const Expr& value, const std::vector<std::string>& names,
                      const std::vector<Var>& added, FunctionBuilder& builder);
// The way back behind what it computes again, over what `vars` gives for the values that are kept. Its
// results.
std::vector<Expr> replayed(const Cut& cut, const Region& back, VarMap& vars, const ScalarMap& scalars,
                           FunctionBuilder& builder);
// The adjoints of what an if or a loop gives: of its one value, or by field.
std::vector<Adjoint> by_result(const Adjoint& adjoint, std::size_t count);

// The value as a loop carries it: what comes off a stack, and sums with that, may know less of their shape.
Expr as_carried(const Expr& value, const Type& type, const std::string& name, FunctionBuilder& builder);

// The type that reading gives to what a loop carries: the device is that of the value it begins with.
Type carried_type(const Expr& initial, const Type& type);

}  // namespace relish
