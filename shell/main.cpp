// The program.
#include "shell/cli/command_line.h"

int main(int argc, char** argv) {
  // Behind the program's name; argc may be 0.
  char** begin = argc > 0 ? argv + 1 : argv;
  return relish::run_program({begin, argv + argc});
}
