// Standard input, output and error as a process begins with them.
#include "support/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace relish {

void hold_standard_streams() {
  // The lowest free number is what an opened file gets: in this order each gets the place that it is for.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The other way round, so that reading and printing fail.
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) ::open("/", O_RDONLY | O_DIRECTORY);
  }
}

}  // namespace relish
