// Reading of texts through the front end.
#include "shell/program/reading.h"

#include "shell/program/notebook.h"
#include "shell/session.h"
#include "stdlib/stdlib.h"
#include "support/failure.h"

namespace relish {

void start_language() {
  static const bool started = [] {
    install_stdlib();
    install_front_end();
    return true;
  }();
  static_cast<void>(started);
}

bool is_python_file(std::string_view path) {
  return (path.size() > 3 && path.ends_with(".py")) || is_notebook(path);
}

ReadResult read_script(std::uint32_t file, ReadOptions options, std::vector<Diagnostic>& warnings,
                       ToleratesErrors tolerates) {
  start_language();
  const SourceFile* source = Sources::instance().find(file);
  options.python_file = source && is_python_file(source->name());
  options.redefinitions = !options.python_file;
  Diagnostics diagnostics;
  ReadResult result = read_source(file, options, diagnostics);
  if (!tolerates || !tolerates(result, diagnostics.all())) throw_if_errors(diagnostics);
  warnings = diagnostics.all();
  return result;
}

ReadResult read_deferred_declarations(const ast::Deferred& group, ReadOptions options,
                                      std::vector<Diagnostic>& warnings) {
  options.redefinitions = true;
  Diagnostics diagnostics;
  ReadResult result = read_deferred(group, options, diagnostics);
  throw_if_errors(diagnostics);
  warnings = diagnostics.all();
  return result;
}

ast::ExprPtr read_one_expression(std::uint32_t file) {
  Diagnostics diagnostics;
  ast::ExprPtr result = read_expression(file, diagnostics);
  throw_if_errors(diagnostics);
  RELISH_CHECK(result != nullptr);
  return result;
}

}  // namespace relish
