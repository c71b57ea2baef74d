// The size that the terminal tells.
#include "shell/program/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace relish {

std::size_t terminal_columns(std::size_t otherwise) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

}  // namespace relish
