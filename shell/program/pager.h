// Results that are longer than the screen go to the pager that the user named, in a session on a terminal.
#pragma once

#include <string_view>

namespace relish {

// From now on, the program that PAGER names, or less, is started for texts of more than `rows` lines.
void begin_paging(unsigned rows);
// Whether the text is for the pager, and there is one.
bool goes_to_pager(std::string_view text);
// False when it could not be started.
bool shown_by_pager(std::string_view text);

}  // namespace relish
