// The pager's process, which reads the text from a pipe.
#include "shell/program/pager.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "shell/program/child_signals.h"

namespace relish {
namespace {

unsigned page_rows = 0;  // 0: nothing is paged

// What the user chose, perhaps nothing; else less, where it is.
std::string pager_command() {
  const char* chosen = std::getenv("PAGER");
  return chosen ? chosen : "command -v less >/dev/null || exit 127; less";
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // who has seen enough leaves
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void begin_paging(unsigned rows) { page_rows = rows; }

bool goes_to_pager(std::string_view text) {
  return page_rows > 0 && !pager_command().empty() &&
         std::count(text.begin(), text.end(), '\n') + 1 >= static_cast<std::ptrdiff_t>(page_rows);
}

bool shown_by_pager(std::string_view text) {
  // less ends by itself for what is short after all, and keeps colours.
  const std::string command = std::string("LESS=\"${LESS-FRX}\"; export LESS; ") + pager_command();
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const ChildSignals signals;
  const pid_t child = ::fork();
  if (child == 0) {
    ChildSignals::take_back();
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[0]);
  if (child > 0) {
    write_all(ends[1], text);
    write_all(ends[1], "\n");
  }
  ::close(ends[1]);
  if (child < 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // One that could not be started has shown nothing.
  return !WIFEXITED(status) || WEXITSTATUS(status) != 127;
}

}  // namespace relish
