// What the header of a golden file can ask for: one function a command. Each runs the text and tells what it
// gave; tests/golden/main.cpp compares that with what the file expects.
#pragma once

#include "tests/golden/golden_file.h"

namespace relish::testing {

// What a test needs and this machine lacks: the file is skipped, and the runner says so.
struct Unavailable {
  std::string what;
};

Outcome run_parse(const GoldenFile& file);  // parse: the declarations, one line each
Outcome run_print(const GoldenFile& file);  // print [--dialect D]: the canonical text
Outcome run_check(const GoldenFile& file);  // check: the diagnostics
Outcome run_steps(const GoldenFile& file);  // steps: what compiled code of each function does, step by step
Outcome run_loops(const GoldenFile& file);  // loops: what is known of each prim_func's loops
Outcome run_pass(const GoldenFile& file);   // pass EXPRESSION: the module that a script's expression makes
Outcome run_script(
    const GoldenFile& file);  // run [--dialect D] [--set N=V] [--tier T]: in every configuration
Outcome run_training(const GoldenFile& file);  // train: as run, with a run folder
Outcome run_session(const GoldenFile& file);   // repl: a transcript; Unavailable without a pseudo-terminal
Outcome run_screen(const GoldenFile& file);    // screen 80x24: what a terminal shows; Unavailable as above
Outcome run_command_line(const GoldenFile& file);  // cli ARGUMENTS: the program itself

}  // namespace relish::testing
