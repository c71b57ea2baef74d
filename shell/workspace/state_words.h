// States in words, for listings and messages.
#pragma once

#include <string>

#include "shell/workspace/workspace.h"

namespace relish {

// The number of the input that is asked for, and the branch when it is not the first one: `[12 try] >>> `;
// the second form is that of lines that go on.
std::string prompt_of(const Workspace& workspace, bool open);

// "M = gradient(M.main)": the first line of what made the node; long ones are cut.
std::string title_of(const LogNode& node);
// "state 12: M = gradient(M.main)", or "the start".
std::string place_of(const Workspace& workspace, std::size_t node);

}  // namespace relish
