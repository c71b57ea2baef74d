// Writing of a session: what the user asks for, and what would be lost when it ends.
#pragma once

#include <string>

#include "shell/workspace/workspace.h"

namespace relish {

// `:save FILE [--overwrite]`: `path` is what stands behind the command.
void save_session(Session& session, Workspace& workspace, std::string path);

// States that no file has are written into one of the user's state folder (`left.rxs`, of sessions with large
// values the statements as `left.relish`), in the place of what the session before left. A line for the user;
// empty when nothing is to be kept.
std::string keep_left_session(Workspace& workspace);

}  // namespace relish
