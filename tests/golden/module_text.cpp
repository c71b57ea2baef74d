// Reading, and what failed in it or behind it.
#include "tests/golden/module_text.h"

#include "frontend/reader.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "tests/golden/reading.h"

namespace relish::testing {

Outcome outcome_of_modules(const GoldenFile& file, const std::function<std::string(const Module&)>& text) {
  Outcome outcome;
  Diagnostics diagnostics;
  const ReadResult read = read_source(add_source(file), reading_options(file), diagnostics);
  outcome.diagnostics = diagnostics.all();
  if (diagnostics.has_errors()) {
    outcome.exit_code = exit_code_of(diagnostics.first_error_class());
    return outcome;
  }
  with_big_stack([&] {
    try {
      for (const ModulePtr& module : read.all_modules()) outcome.output += text(*module);
    } catch (const Failure& failure) {
      outcome.diagnostics = failure.diagnostics();
      outcome.exit_code = failure.exit_code();
    }
  });
  return outcome;
}

}  // namespace relish::testing
