// The line below the input that is edited: how the call at the cursor is written, else where the session is.
#pragma once

#include <string>
#include <string_view>

namespace relish {

class Workspace;

std::string status_line(const Workspace& workspace, std::string_view text);

}  // namespace relish
