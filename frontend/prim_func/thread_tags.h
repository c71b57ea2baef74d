// Names of threads in T.thread_binding, T.launch_thread and T.env_thread.
#pragma once

#include <string>

#include "support/diagnostic.h"

namespace relish {

// Refuses by "loop.thread" a name that is none of a thread: "threadIdx.q".
void check_thread_tag(const std::string& tag, Span at);

}  // namespace relish
