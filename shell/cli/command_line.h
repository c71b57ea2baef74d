// The program's command line: which command is meant, its options, and the exit code.
#pragma once

#include <string>
#include <vector>

namespace relish {

// Runs the program for the arguments behind its name; prints diagnostics and returns the exit code. Nothing
// is thrown.
int run_program(const std::vector<std::string>& arguments);

}  // namespace relish
