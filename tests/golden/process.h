// Running the program as a user does: a fixed list of arguments, no shell, in a folder of its own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace relish::testing {

struct ProcessRequest {
  std::vector<std::string> arguments;  // behind the program's name
  std::string folder;                  // the working directory
  std::string input;                   // path of standard input; empty: nothing to read
  std::string output_to;   // "closed" or "unread": a pipe that is, "full": a device without room; else a file
  int ignored_signal = 0;  // that the program inherits as ignored; all others have their default
  int signal = 0;          // sent `signal_after_ms` after the start
  int signal_after_ms = 0;
  int limit_seconds = 60;                   // then it is killed, which is a finding
  std::function<void(int)> watch = {};      // called with its id, again and again, while it runs
  std::vector<std::string> variables = {};  // of the environment, NAME=VALUE
  // Called in the child before it becomes the program: what may be called behind fork() in limits and files.
  std::function<void()> prepare = {};
};

struct ProcessResult {
  int exit_code = 0;  // 128 + signal when it died by one
  bool killed_by_signal = false;
  bool timed_out = false;
  double signal_to_end_ms = 0;  // how long it went on after the signal
  std::string output;
  std::string error_output;
};

// The environment of a program at home in `folder`: its folders there, `more`, and what sanitizers are told.
std::vector<std::string> environment_at(const std::string& folder, std::vector<std::string> more);

// The program under test, RELISH_PROGRAM of the build.
ProcessResult run_program(const ProcessRequest& request);

}  // namespace relish::testing
