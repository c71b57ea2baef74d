// Processes of this program that run beside each other, each with a log. They end with the process that
// started them, whatever ends it, and a signal to it reaches them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace relish {

struct ChildJob {
  std::vector<std::string> arguments;  // behind the program's name
  std::string log;                     // file that its output is appended to
};

// Runs them in order, at most `together` at a time. `started` and `ended` are told the number of a job, and
// how it ended (an exit code, or 128 and a signal's number). When a signal asks this process to stop, the
// running ones get it, no other is started, and this returns when the last has ended; the signal is then
// still to be obeyed. IOError when a process cannot be started.
void run_child_jobs(const std::vector<ChildJob>& jobs, std::size_t together,
                    const std::function<void(std::size_t)>& started,
                    const std::function<void(std::size_t, int)>& ended);

}  // namespace relish
