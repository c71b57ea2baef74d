// Values of a session as curves, for the command that draws those of jobs in the shell.
#pragma once

#include "shell/command.h"

namespace relish {

// Of a tensor or list of numbers its values by index, of a matrix a curve a column, of a dict one an entry.
ScriptValue plot_of_values(Invocation& invocation);

}  // namespace relish
