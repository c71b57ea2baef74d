// Faults of a Python file that come from what only Python has: a value that one of its statements computes,
// or something of a module that it imports. They are told as such, so that they leave out the function alone.
#pragma once

#include <cstddef>

#include "frontend/context.h"

namespace relish {

// Of the diagnostics from the number `first` on, those inside `whole`, which is the text of `definition`.
void tell_python_uses(ReadContext& context, const ast::FunctionDefinition& definition, Span whole,
                      std::size_t first);

// All diagnostics, with these in the words that were found for them.
std::vector<Diagnostic> with_python_uses(ReadContext& context);

}  // namespace relish
