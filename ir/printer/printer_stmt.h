// What the printers of prim_funcs and of statements share. Internal to ir/.
#pragma once

#include <vector>

#include "ir/printer/printer_internal.h"

namespace relish::printing {

// `(2, 3), "int32", scope="shared"`, without what is the default.
void write_buffer_arguments(Writer& w, const Buffer& buffer, bool always_dtype);
// The allocations of a function and its statements.
void write_body(Writer& w, const std::vector<Buffer>& allocations, const Stmt& body);

}  // namespace relish::printing
