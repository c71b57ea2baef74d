// Where a running program writes its lines (R.print): to the output of the session that runs it. Both engines
// write here, so that lines come in the order of the program whichever runs it.
#pragma once

#include <functional>
#include <string_view>

namespace relish {

// A line without its end.
using LineWriter = std::function<void(std::string_view)>;

// From now on lines go to `write`; `owner` is who may take it back. Without one, lines go to standard output.
void attach_program_output(const void* owner, LineWriter write);
// Ends the attachment if it is still that of `owner`.
void detach_program_output(const void* owner);
// Lines are whole even when threads write at the same time.
void write_program_line(std::string_view line);

}  // namespace relish
