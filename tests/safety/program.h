// The program as a process whose end, room and place a test decides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relish::testing {

struct Trial {
  std::vector<std::string> arguments;  // behind the program's name
  std::string folder;                  // where it runs
  std::int64_t kill_after_us = -1;     // SIGKILL; -1: never
  std::int64_t largest_file = -1;      // RLIMIT_FSIZE in bytes
  std::int64_t data_bytes = -1;        // RLIMIT_DATA in bytes
  std::vector<int> closed;             // standard streams that it begins without
};

struct TrialResult {
  int exit_code = 0;     // -1 when a signal ended it
  int signal = 0;        // that signal
  std::string messages;  // standard output and standard error
};

TrialResult run_trial(const Trial& trial);

// A small file system of its own, in this process's own view of the files. Nothing where that is not allowed.
class SmallDisk {
 public:
  SmallDisk(std::string folder, std::size_t bytes);
  SmallDisk(const SmallDisk&) = delete;
  ~SmallDisk();
  bool available() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

}  // namespace relish::testing
