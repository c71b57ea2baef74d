// The verifier: what must hold of every module after reading and after every pass. Variables bound once and
// before use, dataflow variables not used outside their block, operands leaves, recorded types equal to
// inferred ones, global names present and of the right kind, block structure of prim_funcs sound (loop
// variables unique, ranks of accesses right).
#pragma once

#include "ir/nodes/module.h"
#include "support/diagnostic.h"

namespace relish {

void verify(const Module& module, Diagnostics& diagnostics);
// InternalError naming the pass when the module does not verify; used after every pass.
void verify_after(const Module& module, std::string_view pass);
// The same of a prim_func by itself, for passes that change nothing else.
void verify_after(const PrimFunc& function, std::string_view pass);

}  // namespace relish
