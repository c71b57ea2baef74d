// Diagnostics for a terminal of so many columns: source lines are cut around the fault so that the marks
// stand below it. Of a wide one lines are as long as everywhere.
#pragma once

#include <cstddef>

#include "support/render.h"

namespace relish {

std::string render_within(std::size_t terminal_columns, std::span<const Diagnostic> diagnostics,
                          const Sources& sources, const RenderOptions& options);

}  // namespace relish
