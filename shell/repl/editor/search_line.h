// What libedit writes into the text while earlier inputs are searched.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "shell/repl/editor/edited_text.h"

namespace relish {

// It is a last line: "bck:word", or "bck?word" where no input has it. Where that line begins, its end of line
// included; nothing while nobody searches.
std::optional<std::size_t> search_begin(const std::string& text);
// Takes that line out of the text; what stands below instead, where other notes do.
std::optional<std::string> take_search(EditedText& text);

}  // namespace relish
