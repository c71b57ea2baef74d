// Candidates as lines below the input.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "shell/repl/completion/completion.h"

namespace relish {

// How many are shown at once.
inline constexpr std::size_t menu_rows = 6;

// Those from `begin` on, a line each: text, kind and description in columns; and where they stand among all.
std::vector<std::string> menu_lines(std::span<const Candidate> candidates, std::size_t begin);

}  // namespace relish
