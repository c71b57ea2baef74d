// The canonical text of a whole source: declarations as the printer writes them, statements as they stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/printer/printer.h"
#include "shell/program/program_file.h"
#include "support/diagnostic.h"

namespace relish {

// Nothing when the text has errors other than those of types. A Python file gives its declarations only.
// Files that the text loads are read by the rules.
std::optional<std::string> canonical_text(std::uint32_t source, const PrintOptions& options,
                                          const PathRules& rules, Diagnostics& diagnostics);
// The text itself with its functions as the printer writes them, and everything else as it stands.
std::optional<std::string> canonical_text_in_place(const SourceText& text, const PrintOptions& options,
                                                   const PathRules& rules, Diagnostics& diagnostics);

}  // namespace relish
