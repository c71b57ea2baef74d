// What a script's statements cannot be, found when the text is read: `check` says it, and a run begins with
// none of it.
#pragma once

#include "frontend/context.h"

namespace relish {

// Reports declarations inside statements, `with`, break and continue outside loops, return outside functions,
// annotations, targets that nothing can be assigned to, and expressions that are read only to be refused.
void check_script(ReadContext& context, const ast::Block& statements);

// A `def` without decorator at top level is a script function: a value, not part of a module.
bool is_script_function(const ast::Statement& statement);

// "a set is not part of the language; write a list or a dict".
std::string refusal_of(const ast::Unsupported& expression);
// "found the hole '?a' in a statement; …".
std::string refusal_of(const ast::Hole& hole);

}  // namespace relish
