// What --check-each asks behind a pass: that the functions which it left their types compute what they did.
#pragma once

#include "shell/session.h"

namespace relish {

// Runs every Relax function that stands in both modules with the same types and another body, before and
// after, in the interpreter on numbers drawn from the session's seed; sizes that the types leave open are 3.
// A function is left out when its parameters' types do not say how to draw them, or when it faults before the
// pass. RuntimeError with the pass, the function, and the first element that differs by more than the dtype
// explains.
void check_computes_the_same(Session& session, std::string_view pass, const ModulePtr& before,
                             const ModulePtr& after);

}  // namespace relish
