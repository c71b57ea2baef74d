// The program on a pseudo-terminal, as for a user.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace relish::testing {

struct TerminalForm {
  std::string name = "dumb";  // TERM
  unsigned short columns = 400, rows = 50;
  std::vector<std::string> variables = {};  // of the environment, NAME=VALUE
};

class TerminalProgram {
 public:
  // Throws Unavailable where there is no pseudo-terminal.
  TerminalProgram(const TemporaryFolder& folder, const std::vector<std::string>& options,
                  const TerminalForm& form = {});
  TerminalProgram(const TerminalProgram&) = delete;
  ~TerminalProgram();

  void send(std::string_view text) const;
  void resize(unsigned short columns, unsigned short rows) const;
  // What the program writes up to its next prompt, which is returned apart; an empty prompt when it ended or
  // hangs. Without carriage returns and terminal escapes.
  std::string read_to_prompt(std::string& prompt) const;
  // What it writes until it waits for a key with its cursor shown; false when it ended or hangs.
  bool read_to_rest(std::string& bytes) const;
  // The terminal goes away, as when its window is closed.
  void hang_up();
  int wait_for_end();

 private:
  pid_t child_ = -1;
  int terminal_ = -1;
};

}  // namespace relish::testing
