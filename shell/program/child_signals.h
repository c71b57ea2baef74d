// Keys of the terminal while another program has it.
#pragma once

#include <array>
#include <csignal>

namespace relish {

// While one lives, SIGINT and SIGQUIT are those of a child that has the terminal: they come to this process
// as well, where two of them would end a session. Made before the fork.
class ChildSignals {
 public:
  ChildSignals();
  ~ChildSignals();
  ChildSignals(const ChildSignals&) = delete;
  ChildSignals& operator=(const ChildSignals&) = delete;

  // In the child, before its program is started.
  static void take_back();

 private:
  std::array<struct sigaction, 2> before_;
};

}  // namespace relish
