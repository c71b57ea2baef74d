// The interactive session: reads inputs, runs them one by one, and stays alive whatever happens.
#pragma once

#include <string>
#include <vector>

#include "shell/session.h"

namespace relish {

// Runs `files`, then reads inputs from the terminal until Ctrl-D or `:quit`, and returns the exit code.
// Without a terminal on standard input the input is one script: no prompts, and the first error is thrown.
int run_repl(Session& session, const std::vector<std::string>& files);

}  // namespace relish
