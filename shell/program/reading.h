// Reading of texts for scripts: the one place that knows how the front end is asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.h"
#include "support/diagnostic.h"

namespace relish {

// What earlier inputs of a session made.
struct ReadingContext {
  ModulePtr free_functions;          // may be called; may be null
  std::vector<std::string> names;    // bound by statements: functions must not use them
  std::vector<std::string> modules;  // names of modules
};

bool is_python_file(std::string_view path);

// The statements of a source with declarations as DeclareModule and DeclareFunction. All errors are thrown
// together; `warnings` receives the rest.
ast::Block read_statements(std::uint32_t file, const ReadingContext& context,
                           std::vector<Diagnostic>& warnings);
// One expression; SyntaxError for anything else.
ast::ExprPtr read_one_expression(std::uint32_t file);

}  // namespace relish
