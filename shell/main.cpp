// The program.
#include "shell/cli/command_line.h"
#include "support/interrupt.h"

namespace {

// Schedulers ask to save or to end whenever they like: they are heard before anything of the program or of a
// library begins.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Behind what the sanitizer itself begins with.
constexpr int before_all_others = 101;
__attribute__((constructor(before_all_others))) void hear_signals() { relish::install_signal_handlers(); }
#else
__attribute__((section(".preinit_array"), used)) void (*hear_signals)() = relish::install_signal_handlers;
#endif

}  // namespace

int main(int argc, char** argv) {
  // Behind the program's name; argc may be 0.
  char** begin = argc > 0 ? argv + 1 : argv;
  return relish::run_program({begin, argv + argc});
}
