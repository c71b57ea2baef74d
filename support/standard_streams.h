// Standard input, output and error as a process begins with them.
#pragma once

namespace relish {

// Takes the places of standard streams that are closed, so that no file that is opened later gets one: what
// is printed would be written into it. Reading and printing there fail as they do on a closed stream.
// Before anything is opened; it may stand before all else that a program does.
void hold_standard_streams();

}  // namespace relish
