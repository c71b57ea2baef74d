// What is told of a text that nobody types when it ends at its first fault: at which statement, and how many
// did not run.
#pragma once

#include <cstddef>
#include <vector>

#include "shell/repl/inputs/input_parts.h"
#include "support/failure.h"

namespace relish {

// Adds the note to the fault in the part `at`; `ran`: how many statements of that part did.
void note_end(Failure& failure, const std::vector<InputPart>& parts, std::size_t at, std::size_t ran);
// The same of a fault that was found before anything ran.
void note_unread(Failure& failure, const std::vector<InputPart>& parts);

}  // namespace relish
