// What a function owns and nobody uses behind a step goes to that step: a kernel writes its result over it, a
// callee ends it or writes to it.
#pragma once

#include "jit/steps/program_steps.h"

namespace relish::jit {

// Changes the steps of a whole function that have no releases yet. The memory of a result that leaves the
// function is that of an owned argument where the kernel may write over it (loops/write_over.h).
void give_up_last_uses(FunctionSteps& made, ProgramSteps& program);

}  // namespace relish::jit
