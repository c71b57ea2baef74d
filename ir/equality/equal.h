// Structural equality modulo names: the equality of the round-trip law. Constants compare bitwise, comments
// and spans do not count, names of functions, parameters and attributes do.
#pragma once

#include "ir/nodes/module.h"

namespace relish {

bool equal_modulo_names(const Module& a, const Module& b);
bool equal_modulo_names(const Function& a, const Function& b);
bool equal_modulo_names(const PrimFunc& a, const PrimFunc& b);
// Where the first difference lies, in words; empty when equal.
std::string first_difference(const Module& a, const Module& b);

}  // namespace relish
