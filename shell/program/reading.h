// Reading of texts for scripts: the one place that knows how the front end is asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/reader.h"
#include "support/diagnostic.h"

namespace relish {

// Also a notebook, whose code cells are one.
bool is_python_file(std::string_view path);

// A source as a script reads it, with the options of its session. All errors are thrown together, but for
// those that `tolerates` says are none; `warnings` receives the rest.
using ToleratesErrors = bool (*)(const ReadResult& read, const std::vector<Diagnostic>& diagnostics);
ReadResult read_script(std::uint32_t file, ReadOptions options, std::vector<Diagnostic>& warnings,
                       ToleratesErrors tolerates = nullptr);
// Declarations that waited for the statements before them.
ReadResult read_deferred_declarations(const ast::Deferred& group, ReadOptions options,
                                      std::vector<Diagnostic>& warnings);
// One expression; SyntaxError for anything else.
ast::ExprPtr read_one_expression(std::uint32_t file);

}  // namespace relish
