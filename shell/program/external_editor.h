// The user's own editor for a text: $VISUAL, $EDITOR, or vi.
#pragma once

#include <string>

namespace relish {

// What the text is when the editor has ended. IOError when it cannot be started or says that it failed.
std::string edited_by_user(const std::string& text);

}  // namespace relish
