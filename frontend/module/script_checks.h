// What a script's statements cannot be, found when the text is read: `check` says it, and a run begins with
// none of it.
#pragma once

#include "frontend/context.h"

namespace relish {

// Reports definitions inside statements, `with`, break and continue outside loops, return, annotations,
// targets that are no names, and expressions that are read only to be refused.
void check_script(ReadContext& context, const ast::Block& statements);

// "a lambda is not part of the language; write an R.function".
std::string refusal_of(const ast::Unsupported& expression);

}  // namespace relish
