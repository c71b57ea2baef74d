// The program.
#include "shell/cli/command_line.h"
#include "support/interrupt.h"
#include "support/limits.h"
#include "support/standard_streams.h"

namespace {

// Schedulers ask to save or to end whenever they like: they are heard before anything of the program or of a
// library begins. So is the room looked at that the libraries take as they begin, and no file of theirs gets
// the number of a standard stream.
void before_all() {
  relish::install_signal_handlers();
  relish::hold_standard_streams();
  relish::require_least_addresses();
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Behind what the sanitizer itself begins with.
constexpr int before_all_others = 101;
__attribute__((constructor(before_all_others))) void begin() { before_all(); }
#else
__attribute__((section(".preinit_array"), used)) void (*begin)() = before_all;
#endif

}  // namespace

int main(int argc, char** argv) {
  // Behind the program's name; argc may be 0.
  char** begin = argc > 0 ? argv + 1 : argv;
  return relish::run_program({begin, argv + argc});
}
