// Faults of statements that are typed, found without running them: by names, by the arguments of calls, and
// by shapes where they are known.
#pragma once

#include <functional>

#include "frontend/reader.h"

namespace relish {

class Workspace;

// `read` is the text as it stands. `sound`: no fault was found in its declarations, so that they can be
// called. `goes_on` is asked between statements: when it says no, the check ends with Failure(Interrupted).
void check_statements(Workspace& workspace, const ReadResult& read, bool sound,
                      const std::function<bool()>& goes_on,
                      const std::function<void(Span, const std::string&)>& tell);

}  // namespace relish
