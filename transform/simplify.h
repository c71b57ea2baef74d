// Algebra over operator calls: what does nothing goes, what undoes itself goes.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

// By rule, where the type stays the same (the table is in simplify.cpp): sums with 0, products and quotients
// with 1, transposes of transposes, chains of reshapes, casts there and back, selects between equals, and
// their like. The value stays the same to the bit but for x + 0.0, whose x keeps the sign of its zeros.
// Functions in which nothing is to be done keep their handles.
Module simplify(const Module& module);

}  // namespace relish
