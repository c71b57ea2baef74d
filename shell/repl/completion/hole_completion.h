// Candidates for a hole, ?a: what in scope has the type that its place wants.
#pragma once

#include <optional>

#include "shell/repl/completion/completion.h"

namespace relish {

// For a text that ends in a hole; nothing for any other.
std::optional<Completions> complete_hole(Workspace& workspace, std::string_view text);

}  // namespace relish
