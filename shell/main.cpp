// The program.
#include "shell/cli/command_line.h"
#include "support/interrupt.h"

namespace {

// Before everything that is made before main: schedulers ask to save whenever they like.
constexpr int before_all_others = 101;
__attribute__((constructor(before_all_others))) void hear_save_requests() { relish::expect_save_requests(); }

}  // namespace

int main(int argc, char** argv) {
  // Behind the program's name; argc may be 0.
  char** begin = argc > 0 ? argv + 1 : argv;
  return relish::run_program({begin, argv + argc});
}
